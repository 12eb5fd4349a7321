/** Loads artifacts on demand: each file is read once, checked against the lock, and kept in memory. */
import { parseVerificationKey, type VerificationKey } from "@sotto/groth16";
import { isArrayBuffer } from "@sotto/protocol/base";
import { proverError } from "../errors.ts";
import type { ArtifactCache } from "./cache.ts";
import type { ExpandKey } from "./compact-key.ts";
import { DEVELOPMENT_SET } from "./development.ts";
import { diskCache } from "./disk-cache.ts";
import { type ArtifactKind, type ArtifactsLock, artifactPath, assertLock } from "./lock.ts";
import { lockOf } from "./sets.ts";
import { type ArtifactSource, folderSource, type HttpOptions, serviceSource, urlSource } from "./source.ts";

const MEBIBYTE = 1 << 20;

/**
 * Maximum file size by kind, bytes: more than twice what the circuits need, and small enough for a browser if the artifact
 * server is malicious.
 */
const DEFAULT_MAX_BYTES: Readonly<Record<ArtifactKind, number>> = {
  wasm: 8 * MEBIBYTE,
  zkey: 128 * MEBIBYTE,
  vkey: MEBIBYTE,
};

/** Location of the circuits' files. */
export interface LoadOptions extends Omit<HttpOptions, "cache"> {
  /**
   * Folder that contains `NAME/NAME.zkey` and so on; sets other than development are in a subfolder with the set's
   * name. Node only. Give exactly one of `folder`, `baseUrl` and `service`.
   */
  folder?: string | undefined;
  /** http(s) URL below which the layout is the same. */
  baseUrl?: string | undefined;
  /** Base URL of a service that serves each file under its hash. */
  service?: string | undefined;
  /** Keeps downloaded files: a folder (Node only), or any `ArtifactCache`. Default: none. */
  cache?: ArtifactCache | string | undefined;
  /** Set of keys, one of `ARTIFACT_SETS`: `development` or `ceremony/NAME`. Default: `development`. */
  set?: string | undefined;
  /** A custom lock. Default: the lock of `set`. */
  lock?: ArtifactsLock | undefined;
  /** Maximum file sizes, bytes. Default: 8 MiB for wasm, 128 MiB for zkey, 1 MiB for vkey. */
  maxBytes?: Partial<Record<ArtifactKind, number>> | undefined;
}

/** The circuits' files of one set of keys, checked by hash. */
export interface Artifacts {
  /** Name of the set of keys; with the keys of `development`, anyone can forge proofs. */
  readonly set: string;
  /** The hashes that every file must have. */
  readonly lock: ArtifactsLock;
  /** Names of the circuits in the lock. */
  readonly circuits: readonly string[];
  /** The file's bytes, which match the lock. Concurrent and later calls share one array: do not write to it. */
  bytes(circuit: string, kind: ArtifactKind): Promise<Uint8Array>;
  /** The circuit's verification key, read and checked once. */
  verificationKey(circuit: string): Promise<VerificationKey>;
  /** Empties the cache. */
  clear(): void;
}

/**
 * Checks the arguments; the files are read later, on demand.
 * @throws SottoError ARTIFACTS_SOURCE_INVALID, ARTIFACTS_LOCK_INVALID, ARTIFACT_SET_UNKNOWN. Reading a file throws
 *   CIRCUIT_UNKNOWN, ARTIFACT_MISSING, ARTIFACT_UNREACHABLE, ARTIFACT_TOO_LARGE, ARTIFACT_CHANGED (details: file, expected,
 *   found) or VERIFICATION_KEY_INVALID
 */
export async function loadArtifacts(options: LoadOptions): Promise<Artifacts> {
  const lock: unknown = options.lock === undefined ? lockOf(options.set ?? DEVELOPMENT_SET) : options.lock;
  assertLock(lock);
  return new LockedArtifacts(lock, sourceOf(options), { ...DEFAULT_MAX_BYTES, ...options.maxBytes });
}

function sourceOf({ folder, baseUrl, service, cache, ...rest }: LoadOptions): ArtifactSource {
  const given = [folder, baseUrl, service].filter((source) => source !== undefined);
  if (given.length !== 1 || typeof given[0] !== "string" || given[0] === "") {
    const expected = "Expected exactly one of `folder`, `baseUrl` and `service`, a string.";
    throw proverError("ARTIFACTS_SOURCE_INVALID", expected);
  }
  if (folder !== undefined) return folderSource(folder);
  const options: HttpOptions = { ...rest, cache: typeof cache === "string" ? diskCache(cache) : cache };
  return service === undefined ? urlSource(baseUrl ?? "", options) : serviceSource(service, options);
}

class LockedArtifacts implements Artifacts {
  readonly set: string;
  readonly lock: ArtifactsLock;
  readonly circuits: readonly string[];
  readonly #source: ArtifactSource;
  readonly #maxBytes: Readonly<Record<ArtifactKind, number>>;
  readonly #files = new Map<string, Promise<Uint8Array>>();
  readonly #provingKeys = new Map<string, Promise<Uint8Array>>();
  readonly #verificationKeys = new Map<string, Promise<VerificationKey>>();

  static provingKeyOf(artifacts: Artifacts, circuit: string, expand?: ExpandKey): Promise<Uint8Array> {
    return #provingKeys in artifacts ? artifacts.#provingKey(circuit, expand) : artifacts.bytes(circuit, "zkey");
  }

  constructor(lock: ArtifactsLock, source: ArtifactSource, maxBytes: Readonly<Record<ArtifactKind, number>>) {
    this.set = lock.set;
    this.lock = lock;
    this.circuits = Object.keys(lock.circuits);
    this.#source = source;
    this.#maxBytes = maxBytes;
  }

  bytes(circuit: string, kind: ArtifactKind): Promise<Uint8Array> {
    return remember(this.#files, `${circuit}.${kind}`, async () => {
      const bytes = await (kind === "zkey" ? this.#provingKey(circuit) : this.#load(circuit, kind));
      return isArrayBuffer(bytes.buffer) ? bytes : bytes.slice();
    });
  }

  #provingKey(circuit: string, expand?: ExpandKey): Promise<Uint8Array> {
    return remember(this.#provingKeys, circuit, () => this.#load(circuit, "zkey", expand));
  }

  verificationKey(circuit: string): Promise<VerificationKey> {
    return remember(this.#verificationKeys, circuit, async () => {
      const bytes = await this.bytes(circuit, "vkey");
      return parseVerificationKey(new TextDecoder().decode(bytes), circuit);
    });
  }

  clear(): void {
    this.#files.clear();
    this.#provingKeys.clear();
    this.#verificationKeys.clear();
  }

  async #load(circuit: string, kind: ArtifactKind, expand?: ExpandKey): Promise<Uint8Array> {
    const hashes = Object.hasOwn(this.lock.circuits, circuit) ? this.lock.circuits[circuit] : undefined;
    const expected = hashes?.[kind];
    if (expected === undefined) {
      const known = this.circuits.join(", ");
      throw proverError("CIRCUIT_UNKNOWN", `No circuit ${JSON.stringify(circuit)}; this set has ${known}.`, {
        circuit,
        known,
      });
    }
    const path = artifactPath(this.set, circuit, kind);
    const asked = { circuit, kind, path, sha256: expected, maxBytes: this.#maxBytes[kind] };
    const { bytes, sha256: found } = await this.#source.read(asked, expand);
    if (found !== expected) {
      const file = this.#source.locate(asked);
      const message = `Artifact ${file} does not match the lock: expected SHA-256 ${expected}, found ${found}.`;
      throw proverError("ARTIFACT_CHANGED", message, { file, expected, found });
    }
    return bytes;
  }
}

/**
 * A circuit's proving key: the same as `bytes(circuit, "zkey")`, but under Node the array may be in a SharedArrayBuffer, so that
 * a prover with two threads needs no copy. It stays in this package: others could write to it from another thread after its
 * hash was checked, and WebCrypto refuses such memory.
 *
 * A function, because reading the class at import would keep it in the bundle of a page that does not prove.
 * @param expand with it, the key may be downloaded in compact form
 */
export function provingKeyOf(artifacts: Artifacts, circuit: string, expand?: ExpandKey): Promise<Uint8Array> {
  return LockedArtifacts.provingKeyOf(artifacts, circuit, expand);
}

/** Failures are not cached, so that the next call retries. */
function remember<T>(cache: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const made = make();
  cache.set(key, made);
  made.catch(() => {
    if (cache.get(key) === made) cache.delete(key);
  });
  return made;
}
