/** The files of a circuit, named as snarkjs's functions take them. */
import { groth16Error, throwIfAborted } from "../errors.ts";

/**
 * A file: its path (Node) or URL, its bytes, or bytes as snarkjs wraps them. In a page, a text is a URL; in Node, it is a path
 * unless it begins with `http:`, `https:` or `file:`.
 */
export type ZKArtifact =
  | string
  | URL
  | Uint8Array
  | { readonly type: "mem"; readonly data: Uint8Array }
  | { readonly type: "file"; readonly fileName: string };

/** What a file contains, for messages. */
export type ArtifactKind = "witness generator" | "proving key" | "witness";

/** Time after which the last file read from a path is forgotten, ms. */
const KEPT_MS = 30_000;
/** A read takes at most this many bytes: Node's limit is 2^31 - 1. */
const READ_BYTES = 2 ** 30;

interface Stat {
  readonly size: bigint;
  readonly ino: bigint;
  readonly dev: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  isFile(): boolean;
}

interface FileHandle {
  stat(options: { bigint: true }): Promise<Stat>;
  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  close(): Promise<void>;
}

/** The part of Node that is used here, declared so that this package compiles without Node's types. */
interface WithNode {
  readonly process?: {
    getBuiltinModule?(
      name: "node:fs/promises",
    ): { open(path: string | URL, flags: "r"): Promise<FileHandle> } | undefined;
  };
}

interface Kept {
  readonly path: string;
  readonly stamp: string;
  readonly bytes: Uint8Array;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** The file of each kind that was read last: a program that proves repeatedly gets the same bytes, whose key is prepared. */
const kept = new Map<ArtifactKind, Kept>();

/**
 * Reads a file. An unchanged file that was read less than 30 s ago is not read again.
 * @throws Groth16Error CIRCUIT_FILE_UNREADABLE, ABORTED
 */
export async function readArtifact(kind: ArtifactKind, source: ZKArtifact, signal?: AbortSignal): Promise<Uint8Array> {
  throwIfAborted(signal);
  if (isBytes(source)) return source;
  if (typeof source === "object" && source !== null && !(source instanceof URL)) {
    if (source.type === "mem" && isBytes(source.data)) return source.data;
    if (source.type === "file" && typeof source.fileName === "string")
      return readArtifact(kind, source.fileName, signal);
    throw unreadable(kind, "it is neither bytes, a path nor a URL");
  }
  if (typeof source !== "string" && !(source instanceof URL))
    throw unreadable(kind, "it is neither bytes, a path nor a URL");
  const files = (globalThis as WithNode).process?.getBuiltinModule?.("node:fs/promises");
  const text = String(source);
  if (files === undefined || /^https?:/i.test(text)) return download(kind, text, signal);
  const path = /^file:/i.test(text) ? new URL(text) : text;
  try {
    return await readFile(kind, path, await files.open(path, "r"));
  } catch (error) {
    // Only the code: a message of Node repeats the path.
    const { code } = error as { readonly code?: unknown };
    throw unreadable(kind, `${text}: ${typeof code === "string" ? code : "it cannot be read"}`, error);
  }
}

async function readFile(kind: ArtifactKind, path: string | URL, file: FileHandle): Promise<Uint8Array> {
  try {
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile()) throw Object.assign(new Error("not a file"), { code: "it is not a file" });
    const name = String(path);
    const stamp = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join();
    const known = kept.get(kind);
    if (known?.path === name && known.stamp === stamp) {
      keep(kind, name, stamp, known.bytes);
      return known.bytes;
    }
    const size = Number(stat.size);
    // The second thread reads the key too.
    const bytes = new Uint8Array(kind === "proving key" ? new SharedArrayBuffer(size) : new ArrayBuffer(size));
    for (let offset = 0; offset < size; ) {
      const { bytesRead } = await file.read(bytes, offset, Math.min(READ_BYTES, size - offset), offset);
      if (bytesRead === 0) throw Object.assign(new Error("shorter"), { code: "it became shorter while it was read" });
      offset += bytesRead;
    }
    // A witness is secret, and no second proof needs it.
    if (kind !== "witness") keep(kind, name, stamp, bytes);
    return bytes;
  } finally {
    await file.close();
  }
}

function keep(kind: ArtifactKind, path: string, stamp: string, bytes: Uint8Array): void {
  clearTimeout(kept.get(kind)?.timer);
  const timer = setTimeout(() => kept.delete(kind), KEPT_MS);
  // The timer must not keep the process alive.
  (timer as { unref?: () => void }).unref?.();
  kept.set(kind, { path, stamp, bytes, timer });
}

async function download(kind: ArtifactKind, url: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
  let status: number;
  try {
    const response = await fetch(url, signal === undefined ? {} : { signal });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
    status = response.status;
  } catch (error) {
    throwIfAborted(signal);
    throw unreadable(kind, "the download failed", error);
  }
  throw unreadable(kind, `the server answered ${status}`);
}

/** Also bytes of another realm, as under jsdom. */
const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";

/** The message has no URL, because one may contain a secret. */
function unreadable(kind: ArtifactKind, reason: string, cause?: unknown): Error {
  return groth16Error("CIRCUIT_FILE_UNREADABLE", `The ${kind} cannot be read: ${reason}.`, { kind }, cause);
}
