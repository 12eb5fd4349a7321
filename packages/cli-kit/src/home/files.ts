import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { CliError } from "../frame/errors.ts";
import type { Input } from "../frame/output.ts";

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? "unknown";

/** Maximum size of a file that is read as a whole, in bytes. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/**
 * A file's text.
 * @throws CliError FILE_UNREADABLE with the path and the system's code, never with the content
 */
export function readText(path: string, maxBytes = MAX_FILE_BYTES): string {
  return readBytes(path, maxBytes).toString("utf8");
}

/**
 * A file's text.
 * @throws CliError FILE_UNREADABLE with the path and the system's code, never with the content
 */
export function readBytes(path: string, maxBytes = MAX_FILE_BYTES): Buffer<ArrayBuffer> {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    if (fstatSync(descriptor).size > maxBytes)
      throw new CliError("FILE_UNREADABLE", `${path} is larger than ${maxBytes} bytes`);
    return readFileSync(descriptor);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw new CliError("FILE_UNREADABLE", `cannot read ${path}: ${codeOf(cause)}`, {}, { cause });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Reads standard input to its end, as text. @throws CliError FILE_UNREADABLE if it is too large */
export async function readInput(stdin: Input, maxBytes = MAX_FILE_BYTES): Promise<string> {
  return (await readInputBytes(stdin, maxBytes)).toString("utf8");
}

/** Reads standard input to its end. @throws CliError FILE_UNREADABLE if it is too large */
export async function readInputBytes(stdin: Input, maxBytes = MAX_FILE_BYTES): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > maxBytes) throw new CliError("FILE_UNREADABLE", `standard input is larger than ${maxBytes} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** @throws CliError FILE_EXISTS if the file exists and may not be replaced */
export function assertReplaceable(file: string, replace: boolean): void {
  if (!replace && existsSync(file))
    throw new CliError("FILE_EXISTS", `${file} already exists; replace it with --replace, or choose another --out`);
}

/**
 * Writes a file that only its owner can read. It writes and flushes a temporary file and renames it, so that a crash
 * leaves either the old file or the new one.
 * @param replace whether an existing file may be replaced
 * @throws CliError FILE_EXISTS, FILE_UNREADABLE
 */
export function writePrivate(path: string, content: string | Uint8Array, replace: boolean): void {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    const descriptor = openSync(temporary, "wx", 0o600);
    try {
      const bytes = Buffer.from(content);
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    // Unlike a rename, a link fails if the file exists, so concurrent writers cannot replace it either.
    if (replace) renameSync(temporary, path);
    else linkSync(temporary, path);
    flushFolder(dirname(path));
  } catch (cause) {
    if (codeOf(cause) === "EEXIST")
      throw new CliError("FILE_EXISTS", `${path} already exists and is not replaced`, {}, { cause });
    throw new CliError("FILE_UNREADABLE", `cannot write ${path}: ${codeOf(cause)}`, {}, { cause });
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** A rename survives a power cut only once the folder is flushed. */
function flushFolder(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Maximum size of a file that holds one key, in bytes. */
const MAX_KEY_FILE_BYTES = 65_536;

/**
 * Reads a file that holds a key.
 * @returns undefined if it does not exist
 * @throws CliError KEY_FILE_UNSAFE unless it is a plain file of this user that nobody else can read or write
 */
export function readKeyFile(path: string, maxBytes = MAX_KEY_FILE_BYTES): string | undefined {
  let descriptor: number;
  try {
    // The checks below use the descriptor, so that nobody can replace the file in between.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    const code = codeOf(cause);
    if (code === "ENOENT") return undefined;
    const problem = code === "ELOOP" ? "a symbolic link" : `not readable: ${code}`;
    throw new CliError("KEY_FILE_UNSAFE", `${path} is ${problem}`, {}, { cause });
  }
  try {
    const { mode, uid, size } = fstatSync(descriptor);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG || size > maxBytes)
      throw new CliError(
        "KEY_FILE_UNSAFE",
        `${path} is not a key file: expected a plain file of at most ${Math.floor(maxBytes / 1024)} KiB`,
      );
    if ((mode & 0o077) !== 0)
      throw new CliError(
        "KEY_FILE_UNSAFE",
        `${path} has mode ${(mode & 0o777).toString(8).padStart(4, "0")}: other users can read or write it, so the key may be known; fix it with chmod 600`,
      );
    const own = process.getuid?.();
    if (own !== undefined && uid !== own) throw new CliError("KEY_FILE_UNSAFE", `${path} belongs to another user`);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}
