import { createHash } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { CIRCUITS } from "@sotto/protocol";
import { type ArtifactsLock, loadArtifacts, setFolder } from "@sotto/prover";
import { ServiceError } from "../errors.ts";
import { findCompactKey } from "./compact-key.ts";
import { type CompressedFile, findCompressed } from "./compressed.ts";

const LOCKED_KINDS = ["wasm", "zkey", "vkey", "r1cs"] as const;
type LockedKind = (typeof LOCKED_KINDS)[number];
/** `czkey` is the proving key in compact form, which the lock does not name: clients compare the key in it. */
export type FileKind = LockedKind | "czkey";

/** A file that was checked at startup: against the lock or, if it is a compact key, by what it states. */
export interface ArtifactFile {
  readonly circuit: string;
  readonly kind: FileKind;
  readonly path: string;
  /** SHA-256, 64 hex digits. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  readonly contentType: string;
  /**
   * Only for files that are large enough to compress: the brotli-compressed file; undefined if the build did not make
   * it. It is checked against the lock at its first request, because decompressing all files takes a second.
   */
  readonly compressed?: (() => Promise<CompressedFile | undefined>) | undefined;
}

export interface Circuit {
  readonly name: string;
  readonly template: string;
  readonly constraints: number;
  readonly publicSignals: readonly { readonly name: string; readonly offset: number; readonly size: number }[];
  readonly files: Readonly<Partial<Record<FileKind, ArtifactFile>>>;
}

export interface Catalog {
  /** Name of the artifact set; `development` has keys from a public seed. */
  readonly set: string;
  /** Identifies the keys: SHA-256 over the hashes of the verification keys. */
  readonly id: string;
  readonly circuits: ReadonlyMap<string, Circuit>;
  readonly byHash: ReadonlyMap<string, ArtifactFile>;
  /** In snarkjs's JSON format, by circuit. */
  readonly verificationKeys: Readonly<Record<string, unknown>>;
}

const TYPES: Readonly<Record<FileKind, string>> = {
  wasm: "application/wasm",
  zkey: "application/octet-stream",
  vkey: "application/json; charset=utf-8",
  r1cs: "application/octet-stream",
  czkey: "application/octet-stream",
};

/**
 * Bytes read at once for hashing, always into the same buffer: new buffers for 146 MB of files would burden the garbage
 * collector.
 */
const READ_BYTES = 1 << 20;

/** Files that clients load, large enough to compress. */
const COMPRESSED: ReadonlySet<FileKind> = new Set(["wasm", "zkey"]);

/**
 * Reads the artifacts and compares every file with the lock of its set. A circuit that is newer than the set is left out.
 * @param pinned the set's lock, which is compiled in
 * @throws ServiceError ARTIFACT_DAMAGED; ProverError ARTIFACT_MISSING and other loading errors
 */
export async function openCatalog(folder: string, pinned: ArtifactsLock): Promise<Catalog> {
  const { lock, set } = await loadArtifacts({ folder, lock: pinned });
  const circuits = new Map<string, Circuit>();
  const byHash = new Map<string, ArtifactFile>();
  const verificationKeys: Record<string, unknown> = {};
  const buffer = new Uint8Array(READ_BYTES);
  for (const [name, description] of Object.entries(CIRCUITS)) {
    if (!Object.hasOwn(lock.circuits, name)) continue;
    const files: Partial<Record<FileKind, ArtifactFile>> = {};
    for (const kind of LOCKED_KINDS) {
      const sha256 = lock.circuits[name]?.[kind];
      if (sha256 === undefined) continue;
      const path = join(folder, setFolder(set), name, `${name}.${kind === "vkey" ? "vkey.json" : kind}`);
      const size = await assertFile(path, sha256, buffer);
      const compressed = COMPRESSED.has(kind) ? once(() => findCompressed(path, sha256, size)) : undefined;
      const described = { circuit: name, kind, path, sha256, size, contentType: TYPES[kind] };
      files[kind] = { ...described, compressed };
      byHash.set(sha256, files[kind]);
    }
    const compact = await findCompactKey(files.zkey);
    if (compact !== undefined) {
      files.czkey = { ...compact, circuit: name, kind: "czkey", contentType: TYPES.czkey };
      byHash.set(compact.sha256, files.czkey);
    }
    verificationKeys[name] = JSON.parse(await readFile(files.vkey!.path, "utf8"));
    const { template, constraints, publicSignals } = description;
    circuits.set(name, { name, template, constraints, publicSignals, files });
  }
  return { set, id: setId([...circuits.values()]), circuits, byHash, verificationKeys };
}

/** Calls `action` at most once. */
function once<T>(action: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= action();
    return result;
  };
}

function setId(circuits: readonly Circuit[]): string {
  const lines = circuits.map(({ name, files }) => `${name} ${files.vkey!.sha256}\n`).sort();
  return createHash("sha256").update(lines.join("")).digest("hex");
}

/** @param buffer scratch space for reading @returns the file's size in bytes */
async function assertFile(path: string, expected: string, buffer: Uint8Array): Promise<number> {
  const hash = createHash("sha256");
  let size = 0;
  try {
    const file = await open(path);
    try {
      for (;;) {
        const { bytesRead } = await file.read(buffer);
        if (bytesRead === 0) break;
        hash.update(buffer.subarray(0, bytesRead));
        size += bytesRead;
      }
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw new ServiceError("ARTIFACT_DAMAGED", `${path} cannot be read; build the circuits first`, { path }, { cause });
  }
  const found = hash.digest("hex");
  if (found === expected) return size;
  throw new ServiceError("ARTIFACT_DAMAGED", `${path} is not the file that the lock names: its SHA-256 is ${found}`, {
    path,
    expected,
    found,
  });
}

/** Whether the files still exist with the same sizes. Their contents were checked at startup. */
export async function artifactsPresent({ byHash }: Catalog): Promise<boolean> {
  // Without a compact key, clients take the other form of the key.
  for (const file of byHash.values()) if (file.kind !== "czkey" && !(await isPresent(file))) return false;
  return true;
}

/** Whether a file still exists with the same size. */
export async function isPresent({ path, size }: Pick<ArtifactFile, "path" | "size">): Promise<boolean> {
  try {
    const file = await open(path);
    try {
      return (await file.stat()).size === size;
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}
