/** The files of a circuit, named as snarkjs's functions take them. */
import { Groth16Error, groth16Error, throwIfAborted, unlessAborted } from "../errors.ts";

/**
 * A file: its path (Node) or URL, its bytes, or bytes as snarkjs wraps them. In a page, a text is a URL; in Node, it is a path
 * unless it begins with the scheme of a URL, which must be `http:`, `https:` or `file:`.
 */
export type ZKArtifact =
  | string
  | URL
  | Uint8Array
  | { readonly type: "mem"; readonly data: Uint8Array }
  | { readonly type: "file"; readonly fileName: string };

/** What a file contains, for messages. */
export type ArtifactKind = "witness generator" | "proving key" | "witness";

/** A scheme has at least two characters: one is a drive of Windows. */
const URL_SCHEME = /^[a-z][a-z0-9+.-]+:/i;
/** Time after which the last file read from a path is forgotten, ms. */
const KEPT_MS = 30_000;
/** A read takes at most this many bytes: Node's limit is 2^31 - 1. */
const READ_BYTES = 0x4000_0000;

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
  readonly bytes: Promise<Uint8Array>;
  /** Runs after the file was read. */
  timer?: ReturnType<typeof setTimeout>;
}

/**
 * The file of each kind that was read last, or is being read: proofs one after the other or at the same time get the same bytes,
 * whose key is prepared.
 */
const kept = new Map<ArtifactKind, Kept>();

/** Reads the body of a successful response. */
export type Receive = (response: Response) => Promise<Uint8Array>;

const receiveAll: Receive = async (response) => new Uint8Array(await response.arrayBuffer());

/**
 * Reads a file. An unchanged file that was read less than 30 s ago is not read again. An aborted read continues for other callers.
 * @throws Groth16Error CIRCUIT_FILE_UNREADABLE, ABORTED; and those that `receive` throws
 */
export async function readArtifact(
  kind: ArtifactKind,
  source: ZKArtifact,
  signal?: AbortSignal,
  receive: Receive = receiveAll,
): Promise<Uint8Array> {
  throwIfAborted(signal);
  return unlessAborted(readAny(kind, source, signal, receive), signal);
}

/**
 * Reads a witness and uses it. It is secret, so a copy that was read is wiped afterwards; a caller's bytes are not changed.
 * @throws Groth16Error CIRCUIT_FILE_UNREADABLE, ABORTED; and what the use throws
 */
export async function withWitness<T>(
  source: ZKArtifact,
  signal: AbortSignal | undefined,
  use: (file: Uint8Array) => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  const reading = readAny("witness", source, signal);
  try {
    return await use(await unlessAborted(reading, signal));
  } finally {
    const isGiven = isBytes(source) || (source as { readonly type?: unknown } | null)?.type === "mem";
    if (!isGiven) reading.then((copy) => copy.fill(0)).catch(() => undefined);
  }
}

async function readAny(
  kind: ArtifactKind,
  source: ZKArtifact,
  signal?: AbortSignal,
  receive: Receive = receiveAll,
): Promise<Uint8Array> {
  if (isBytes(source)) return source;
  if (typeof source === "object" && source !== null && !(source instanceof URL)) {
    if (source.type === "mem" && isBytes(source.data)) return source.data;
    if (source.type === "file" && typeof source.fileName === "string")
      return readAny(kind, source.fileName, signal, receive);
    throw unreadable(kind, "it is neither bytes, a path nor a URL");
  }
  if (typeof source !== "string" && !(source instanceof URL))
    throw unreadable(kind, "it is neither bytes, a path nor a URL");
  const files = (globalThis as WithNode).process?.getBuiltinModule?.("node:fs/promises");
  const text = String(source);
  if (files === undefined || /^https?:/i.test(text)) return download(kind, text, signal, receive);
  const isUrl = URL_SCHEME.test(text);
  if (isUrl && !/^file:/i.test(text)) throw unreadable(kind, "it is neither a path nor a URL of http, https or file");
  try {
    const path = isUrl ? new URL(text) : text;
    return await readFile(kind, path, await files.open(path, "r"));
  } catch (error) {
    const code = codeOf(error) ?? "it cannot be read";
    throw isUrl ? unreadable(kind, code) : unreadable(kind, `${text}: ${code}`, error);
  }
}

/** The code of an error of Node, whose message repeats the path or the URL. */
function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : undefined;
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
      return await known.bytes;
    }
    const reading = readBytes(kind, file, Number(stat.size));
    // A witness is secret, and no second proof needs it.
    if (kind !== "witness") keep(kind, name, stamp, reading);
    return await reading;
  } finally {
    await file.close();
  }
}

async function readBytes(kind: ArtifactKind, file: FileHandle, size: number): Promise<Uint8Array> {
  // The second thread reads the key too.
  const bytes = new Uint8Array(kind === "proving key" ? new SharedArrayBuffer(size) : new ArrayBuffer(size));
  for (let offset = 0; offset < size; ) {
    const { bytesRead } = await file.read(bytes, offset, Math.min(READ_BYTES, size - offset), offset);
    if (bytesRead === 0) throw Object.assign(new Error("shorter"), { code: "it became shorter while it was read" });
    offset += bytesRead;
  }
  return bytes;
}

function keep(kind: ArtifactKind, path: string, stamp: string, bytes: Promise<Uint8Array>): void {
  clearTimeout(kept.get(kind)?.timer);
  const file: Kept = { path, stamp, bytes };
  kept.set(kind, file);
  const forget = (): void => {
    if (kept.get(kind) === file) kept.delete(kind);
  };
  bytes.then(() => {
    if (kept.get(kind) !== file) return;
    file.timer = setTimeout(forget, KEPT_MS);
    // The timer must not keep the process alive.
    (file.timer as { unref?: () => void }).unref?.();
  }, forget);
}

async function download(
  kind: ArtifactKind,
  url: string,
  signal: AbortSignal | undefined,
  receive: Receive,
): Promise<Uint8Array> {
  let status: number;
  try {
    const response = await fetch(url, signal === undefined ? {} : { signal });
    if (response.ok) return await receive(response);
    status = response.status;
  } catch (error) {
    throwIfAborted(signal);
    if (error instanceof Groth16Error) throw error;
    // No cause: its message may repeat the URL.
    const code = codeOf((error as { readonly cause?: unknown }).cause);
    throw unreadable(kind, `the download failed${code === undefined ? "" : `: ${code}`}`);
  }
  throw unreadable(kind, `the server answered ${status}`);
}

/** Also bytes of another realm, as under jsdom. */
const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";

/** Neither the message nor the cause has a URL, because one may contain a secret. */
function unreadable(kind: ArtifactKind, reason: string, cause?: unknown): Error {
  return groth16Error("CIRCUIT_FILE_UNREADABLE", `The ${kind} cannot be read: ${reason}.`, { kind }, cause);
}
