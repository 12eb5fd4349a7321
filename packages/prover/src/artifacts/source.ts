/** Reads artifacts from a folder (Node), a base URL or a service. The caller checks each file's hash. */
import { SottoError, baseUrl as toServiceUrl } from "@sotto/protocol/base";
import { proverError } from "../errors.ts";
import type { ArtifactCache } from "./cache.ts";
import { type CompactFile, downloadCompactKey, type ExpandKey } from "./compact-key.ts";
import { missing, tooLarge } from "./download.ts";
import { downloadPart } from "./download-part.ts";
import { Failsafe } from "./failsafe.ts";
import type { ArtifactKind } from "./lock.ts";
import { codeOf, isMissing, readWhole, syncFileSystem } from "./node-files.ts";
import { readServedFiles, type ServedFiles } from "./served-files.ts";
import { sha256 } from "./sha256.ts";

/** A file of the lock. */
export interface ArtifactFile {
  readonly circuit: string;
  readonly kind: ArtifactKind;
  /** Path below a folder or base URL. */
  readonly path: string;
  /** Its hash in the lock, 64 lower-case hex digits. */
  readonly sha256: string;
  readonly maxBytes: number;
}

/** The bytes of a file, and their SHA-256, 64 lower-case hex digits, which may not be the expected one. */
export interface FoundFile {
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

export interface ArtifactSource {
  /** The full path or URL of a file, for error messages. */
  locate(file: ArtifactFile): string;
  /**
   * Returns at most `maxBytes` bytes.
   * @param expand if given, a proving key may be downloaded in compact form
   * @throws SottoError ARTIFACT_MISSING, ARTIFACT_TOO_LARGE, ARTIFACT_UNREACHABLE, ABORTED
   */
  read(file: ArtifactFile, expand?: ExpandKey): Promise<FoundFile>;
}

/** A file that is being downloaded. */
export interface ArtifactProgress {
  /** A name of the artifacts' lock, such as "payment". */
  readonly circuit: string;
  /** Which of the circuit's files. */
  readonly kind: ArtifactKind;
  /** Bytes received so far, including those of an earlier download that is resumed. */
  readonly received: number;
  /** Size of the file, bytes; undefined if the server does not send it. */
  readonly total: number | undefined;
}

export interface HttpOptions {
  /** Default: the global fetch. */
  fetch?: typeof fetch | undefined;
  cache?: ArtifactCache | undefined;
  onProgress?: ((progress: ArtifactProgress) => void) | undefined;
  onCacheError?: ((error: SottoError) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** Node only: elsewhere the first read fails with `ARTIFACTS_SOURCE_INVALID`. */
export function folderSource(folder: string): ArtifactSource {
  const locate = ({ path }: ArtifactFile): string => `${folder.replace(/[\\/]+$/, "")}/${path}`;
  return {
    locate,
    async read(asked) {
      const fs = syncFileSystem();
      if (fs === undefined)
        throw proverError("ARTIFACTS_SOURCE_INVALID", "Artifacts can be read from a folder only in Node.");
      const file = locate(asked);
      try {
        const { size } = fs.statSync(file);
        if (size > asked.maxBytes) throw tooLarge(file, asked.maxBytes, size);
        const bytes = readWhole(fs, file, size);
        return { bytes, sha256: await sha256(bytes) };
      } catch (error) {
        if (error instanceof SottoError) throw error;
        if (isMissing(error)) throw missing(file, "no such file");
        const reason = codeOf(error);
        throw proverError("ARTIFACT_UNREACHABLE", `Could not read artifact ${file}: ${reason}.`, { file, reason });
      }
    },
  };
}

/** The layout of `folder`, below an http(s) URL. @throws SottoError ARTIFACTS_SOURCE_INVALID */
export function urlSource(baseUrl: string, options: HttpOptions): ArtifactSource {
  let base: URL;
  try {
    base = new URL(baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`);
  } catch {
    throw proverError("ARTIFACTS_SOURCE_INVALID", "`baseUrl` must be an absolute http or https URL.");
  }
  if (base.protocol !== "https:" && base.protocol !== "http:")
    throw proverError("ARTIFACTS_SOURCE_INVALID", `\`baseUrl\` must be http or https, found ${base.protocol}`);
  const locate = ({ path }: ArtifactFile): string => new URL(path, base).href;
  return {
    locate,
    read: (file) => readHttp({ file, url: locate(file), redirect: "follow", listed: async () => ({}), ...options }),
  };
}

/** The files of a service, by their hashes (docs/api.md). @throws SottoError ARTIFACTS_SOURCE_INVALID */
export function serviceSource(service: string, options: HttpOptions): ArtifactSource {
  const base = toServiceUrl(service);
  if (base === undefined)
    throw proverError("ARTIFACTS_SOURCE_INVALID", "`service` must be a service's base URL, an http or https URL.");
  const { fetch: send = globalThis.fetch, signal } = options;
  let served: Promise<ServedFiles | undefined> | undefined;
  const locate = ({ sha256: hash }: { readonly sha256: string }): string => `${base}/artifacts/${hash}`;
  const listed = async (file: ArtifactFile): Promise<ListedFile> => {
    served ??= readServedFiles(base, send, signal);
    const known = await served;
    if (known === undefined) {
      // The next file asks again.
      served = undefined;
      return {};
    }
    const size = known.sizes.get(file.sha256);
    if (size === undefined)
      throw missing(locate(file), `the service has the set ${known.set}, which lacks ${file.path}`);
    if (size > file.maxBytes) throw tooLarge(locate(file), file.maxBytes, size);
    const compact = known.compactKeys.get(file.sha256);
    return compact === undefined || compact.size > file.maxBytes
      ? { size }
      : { size, compact: { url: locate(compact), ...compact } };
  };
  return {
    locate,
    read: (file, expand) => readHttp({ file, url: locate(file), redirect: "error", listed, expand, ...options }),
  };
}

/** What the server says of a file before it is downloaded. */
interface ListedFile {
  /** Bytes. */
  readonly size?: number;
  /** The compact form of a proving key. */
  readonly compact?: CompactFile;
}

interface HttpRead extends HttpOptions {
  file: ArtifactFile;
  url: string;
  redirect: "follow" | "error";
  listed: (file: ArtifactFile) => Promise<ListedFile>;
  expand?: ExpandKey | undefined;
}

/** Reads a file from the cache or, if the cache has no file with the right hash, downloads and caches it. */
async function readHttp({ file, listed, expand, ...options }: HttpRead): Promise<FoundFile> {
  const { onProgress } = options;
  const { circuit, kind, maxBytes } = file;
  const name = `${file.sha256}.${kind}`;
  const cache = new Failsafe(options.cache, options.onCacheError);
  let found = "";
  const accept = async (bytes: Uint8Array): Promise<boolean> => {
    found = await sha256(bytes);
    return found === file.sha256;
  };
  const cached = await cache.use((entries) => entries.read(name, maxBytes));
  if (cached !== undefined) {
    if (await accept(cached)) return { bytes: cached, sha256: found };
    await cache.use((entries) => entries.remove(name));
  }
  const { fetch = globalThis.fetch, redirect, signal } = options;
  const onBytes = (received: Uint8Array, total: number | undefined): void =>
    onProgress?.({ circuit, kind, received: received.length, total });
  const keep = { cache, fetch, redirect, signal };
  const part = await cache.use((entries) => entries.readPart(name, maxBytes));
  const isBegun = part !== undefined && part.length > 0;
  const { size, compact } = await listed(file);
  if (compact !== undefined && expand !== undefined && !isBegun) {
    // The lock's hash, not the service's: otherwise a service could fill the cache with parts of ever new files.
    const compactName = `${file.sha256}.czkey`;
    const ofCompact = { ...keep, file: compact, name: compactName, maxBytes, expand, accept, onBytes };
    const key = await downloadCompactKey(ofCompact);
    if (key !== undefined) {
      await cache.use((entries) => entries.write(name, key));
      return { bytes: key, sha256: found };
    }
  }
  const { url } = options;
  const asked = { ...keep, name, url, maxBytes, size, part, accept, onBytes };
  const { bytes, accepted } = await downloadPart(asked);
  if (accepted) await cache.use((entries) => entries.write(name, bytes));
  else await cache.use((entries) => entries.remove(name));
  return { bytes, sha256: found };
}
