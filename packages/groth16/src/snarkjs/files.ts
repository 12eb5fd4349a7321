/** The files of a circuit, named as snarkjs's functions take them. */
import { type FilePlace, type FileStat, stampOf } from "../engine/key-on-disk.ts";
import { Groth16Error, throwIfAborted, unlessAborted, unreadableFile } from "../errors.ts";

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

interface Stat extends FileStat {
  isFile(): boolean;
}

/** An open file of Node. */
export interface FileHandle {
  stat(options: { bigint: true }): Promise<Stat>;
  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  close(): Promise<void>;
}

/** The part of Node that is used here, declared so that this package compiles without Node's types. */
interface WithNode {
  readonly process?: {
    getBuiltinModule?(name: "node:fs/promises"): { open(path: string, flags: "r"): Promise<FileHandle> } | undefined;
    getBuiltinModule?(name: "node:path"): { resolve(path: string): string };
    getBuiltinModule?(name: "node:url"): { fileURLToPath(url: string): string };
  };
}

interface Kept<T> {
  readonly path: string;
  readonly stamp: string;
  readonly content: Promise<T>;
  /** Runs after the file was read. */
  timer?: ReturnType<typeof setTimeout>;
}

/**
 * The file of a kind that was read last, or is being read: proofs one after the other or at the same time get the same object,
 * whose key is prepared.
 */
export class LastFile<T> {
  #kept: Kept<T> | undefined;

  /** What was read, if the file is the same and unchanged; otherwise what `read` returns. */
  get({ path, stamp }: FilePlace, read: () => Promise<T>): Promise<T> {
    const known = this.#kept;
    const isSame = known?.path === path && known.stamp === stamp;
    clearTimeout(known?.timer);
    const file: Kept<T> = { path, stamp, content: isSame ? known.content : read() };
    this.#kept = file;
    const forget = (): void => {
      if (this.#kept === file) this.#kept = undefined;
    };
    file.content.then(() => {
      if (this.#kept !== file) return;
      file.timer = setTimeout(forget, KEPT_MS);
      // The timer must not keep the process alive.
      (file.timer as { unref?: () => void }).unref?.();
    }, forget);
    return file.content;
  }
}

/** How files of a kind are read. */
export interface Reader<T> {
  readonly kind: ArtifactKind;
  /** Reads an open file. */
  readonly read: (file: FileHandle, place: FilePlace) => Promise<T>;
  /** Absent if it is not kept. */
  readonly last?: LastFile<T> | undefined;
  /** Reads the body of a successful response. */
  readonly receive: (response: Response) => Promise<Uint8Array>;
}

const receiveAll = async (response: Response): Promise<Uint8Array> => new Uint8Array(await response.arrayBuffer());
const readAll = (file: FileHandle, { byteLength }: FilePlace): Promise<Uint8Array> =>
  readBytes(file, new Uint8Array(byteLength));

const GENERATOR: Reader<Uint8Array> = {
  kind: "witness generator",
  read: readAll,
  last: /* @__PURE__ */ new LastFile(),
  receive: receiveAll,
};

/** A witness is secret, and no second proof needs it. */
const WITNESS: Reader<Uint8Array> = { kind: "witness", read: readAll, receive: receiveAll };

/**
 * Reads a witness generator. An unchanged file that was read less than 30 s ago is not read again. An aborted read continues for
 * other callers.
 * @throws Groth16Error CIRCUIT_FILE_UNREADABLE, ABORTED
 */
export const readGenerator = (source: ZKArtifact, signal: AbortSignal | undefined): Promise<Uint8Array> =>
  readArtifact(GENERATOR, source, signal);

/** Like `readGenerator`, for files of any kind. @throws Groth16Error also those that the reader throws */
export async function readArtifact<T>(
  reader: Reader<T>,
  source: ZKArtifact,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | T> {
  throwIfAborted(signal);
  return unlessAborted(readAny(reader, source, signal), signal);
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
  const reading = readAny(WITNESS, source, signal);
  try {
    return await use(await unlessAborted(reading, signal));
  } finally {
    const isGiven = isBytes(source) || (source as { readonly type?: unknown } | null)?.type === "mem";
    if (!isGiven) reading.then((copy) => copy.fill(0)).catch(() => undefined);
  }
}

const nodeProcess = (): WithNode["process"] => (globalThis as WithNode).process;

/** Whether a file is downloaded, so that its size is not known before. */
export function isDownloaded(source: ZKArtifact): boolean {
  if (typeof source !== "string" && !(source instanceof URL)) return false;
  return nodeProcess()?.getBuiltinModule?.("node:fs/promises") === undefined || /^https?:/i.test(String(source));
}

async function readAny<T>(
  reader: Reader<T>,
  source: ZKArtifact,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | T> {
  const { kind } = reader;
  if (isBytes(source)) return source;
  if (typeof source === "object" && source !== null && !(source instanceof URL)) {
    if (source.type === "mem" && isBytes(source.data)) return source.data;
    if (source.type === "file" && typeof source.fileName === "string") return readAny(reader, source.fileName, signal);
    throw unreadableFile(kind, "it is neither bytes, a path nor a URL");
  }
  if (typeof source !== "string" && !(source instanceof URL))
    throw unreadableFile(kind, "it is neither bytes, a path nor a URL");
  if (isDownloaded(source)) return download(reader, String(source), signal);
  return readPath(reader, String(source));
}

/** @param text a path, or a URL of a file */
async function readPath<T>(reader: Reader<T>, text: string): Promise<T> {
  const { kind } = reader;
  const { getBuiltinModule } = nodeProcess() as Required<NonNullable<WithNode["process"]>>;
  const isUrl = URL_SCHEME.test(text);
  if (isUrl && !/^file:/i.test(text))
    throw unreadableFile(kind, "it is neither a path nor a URL of http, https or file");
  try {
    // Another thread reads it too, and the process may change its folder meanwhile.
    const path = isUrl ? getBuiltinModule("node:url").fileURLToPath(text) : getBuiltinModule("node:path").resolve(text);
    const file = await getBuiltinModule("node:fs/promises")?.open(path, "r");
    return await readFile(reader, { path, name: isUrl ? undefined : text }, file as FileHandle);
  } catch (error) {
    const code = codeOf(error) ?? "it cannot be read";
    throw isUrl ? unreadableFile(kind, code) : unreadableFile(kind, `${text}: ${code}`, error);
  }
}

/** The code of an error of Node, whose message repeats the path or the URL. */
function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : undefined;
}

async function readFile<T>(
  { read, last }: Reader<T>,
  names: Pick<FilePlace, "path" | "name">,
  file: FileHandle,
): Promise<T> {
  try {
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile()) throw Object.assign(new Error("not a file"), { code: "it is not a file" });
    const place = { ...names, byteLength: Number(stat.size), stamp: stampOf(stat) };
    const begin = () => read(file, place);
    return await (last === undefined ? begin() : last.get(place, begin));
  } finally {
    await file.close();
  }
}

/** Fills an array from the start of a file. */
export async function readBytes(file: FileHandle, bytes: Uint8Array): Promise<Uint8Array> {
  for (let offset = 0; offset < bytes.byteLength; ) {
    const length = Math.min(READ_BYTES, bytes.byteLength - offset);
    const { bytesRead } = await file.read(bytes, offset, length, offset);
    if (bytesRead === 0) throw Object.assign(new Error("shorter"), { code: "it became shorter while it was read" });
    offset += bytesRead;
  }
  return bytes;
}

async function download(
  { kind, receive }: Pick<Reader<unknown>, "kind" | "receive">,
  url: string,
  signal: AbortSignal | undefined,
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
    throw unreadableFile(kind, `the download failed${code === undefined ? "" : `: ${code}`}`);
  }
  throw unreadableFile(kind, `the server answered ${status}`);
}

/** Also bytes of another realm, as under jsdom. */
const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";
