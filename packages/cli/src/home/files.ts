import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
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

/** Most bytes of a file that is read whole. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;

/** @throws CliError FILE_UNREADABLE, with the path and the system's code, never with what is in it */
export function readText(path: string, most = MAX_INPUT_BYTES): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    if (fstatSync(descriptor).size > most) throw new CliError("FILE_UNREADABLE", `${path} is too large`);
    return readFileSync(descriptor, "utf8");
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw new CliError("FILE_UNREADABLE", `${path} cannot be read: ${codeOf(cause)}`, {}, { cause });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Standard input to its end. */
export async function readInput(stdin: Input, most = MAX_INPUT_BYTES): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > most) throw new CliError("FILE_UNREADABLE", "standard input is too large");
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * Writes a file that only its owner can read: under another name first, flushed, then named in one step. A crash leaves
 * the old file or the new one.
 * @param replace whether a file that is there may be replaced; never for a key
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
    // A link, unlike a rename, fails where there is a file: nothing is ever replaced by it, whoever else writes.
    if (replace) renameSync(temporary, path);
    else linkSync(temporary, path);
    flushFolder(dirname(path));
  } catch (cause) {
    if (codeOf(cause) === "EEXIST")
      throw new CliError("FILE_EXISTS", `${path} is there already and is not replaced`, {}, { cause });
    throw new CliError("FILE_UNREADABLE", `${path} cannot be written: ${codeOf(cause)}`, {}, { cause });
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** A new name survives a power cut only when the folder is on disk too. */
function flushFolder(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Reads a file that holds a key.
 * @returns undefined where there is none
 * @throws CliError KEY_FILE_UNSAFE where others than its owner may read or write it, or it is no plain file of this user
 */
export function readKeyFile(path: string): string | undefined {
  let descriptor: number;
  try {
    // The descriptor's own mode is looked at, so that the file cannot be exchanged in between.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    const code = codeOf(cause);
    if (code === "ENOENT") return undefined;
    const problem = code === "ELOOP" ? "a link" : `not readable: ${code}`;
    throw new CliError("KEY_FILE_UNSAFE", `${path} is ${problem}`, {}, { cause });
  }
  try {
    const { mode, uid, size } = fstatSync(descriptor);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG || size > 65_536)
      throw new CliError("KEY_FILE_UNSAFE", `${path} is no key file`);
    if ((mode & 0o077) !== 0)
      throw new CliError(
        "KEY_FILE_UNSAFE",
        `${path} has mode ${(mode & 0o777).toString(8).padStart(4, "0")}: others can use it; chmod 600 and think about who did`,
      );
    const own = process.getuid?.();
    if (own !== undefined && uid !== own) throw new CliError("KEY_FILE_UNSAFE", `${path} belongs to another user`);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}
