/** The part of Node's file system that is used here, declared so that this package compiles without Node's types. */
export interface FileSystem {
  mkdir(path: string, options: { recursive: true; mode: number }): Promise<unknown>;
  open(path: string, flags: string | number, mode: number): Promise<FileHandle>;
  rename(from: string, to: string): Promise<void>;
  rm(path: string, options: { force: true }): Promise<void>;
  /** Windows has no O_NOFOLLOW. */
  constants: { O_RDWR: number; O_NOFOLLOW?: number | undefined };
}

export interface FileHandle {
  stat(): Promise<{ size: number }>;
  truncate(length: number): Promise<void>;
  write(bytes: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesWritten: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

interface WithNode {
  readonly process?: {
    getBuiltinModule?(name: "node:fs/promises"): FileSystem | undefined;
    getBuiltinModule?(name: "node:fs"): SyncFileSystem | undefined;
  };
}

/** @returns undefined outside Node */
export function fileSystem(): FileSystem | undefined {
  // This is not an import, because bundlers for browsers would try to resolve it.
  return (globalThis as WithNode).process?.getBuiltinModule?.("node:fs/promises");
}

/** The part of Node's synchronous file system that is used here. */
export interface SyncFileSystem {
  statSync(path: string): { size: number; isFile(): boolean };
  openSync(path: string, flags: string): number;
  readSync(file: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  closeSync(file: number): void;
}

/** @returns undefined outside Node */
export function syncFileSystem(): SyncFileSystem | undefined {
  return (globalThis as WithNode).process?.getBuiltinModule?.("node:fs");
}

/** Size of the buffer through which files are read, bytes: it stays in the processor's cache. */
const BUFFER_BYTES = 1 << 17;

/**
 * Reads a file at once, in a third of the time that asynchronous calls need. The proof takes the thread much longer. It reads
 * through a small buffer: in virtual machines, a page of new memory that the system fills takes longer than one that the
 * program fills. A proving key is read into a SharedArrayBuffer, because the second thread needs it too.
 * @param size the size of the file, bytes; if it has become shorter since, so is the result
 */
export function readWhole(fs: SyncFileSystem, path: string, size: number): Uint8Array {
  const file = fs.openSync(path, "r");
  try {
    const bytes = new Uint8Array(path.endsWith(".zkey") ? new SharedArrayBuffer(size) : new ArrayBuffer(size));
    const buffer = new Uint8Array(Math.min(BUFFER_BYTES, size));
    let length = 0;
    for (let read = -1; read !== 0 && length < size; length += read) {
      read = fs.readSync(file, buffer, 0, Math.min(buffer.length, size - length), length);
      bytes.set(buffer.subarray(0, read), length);
    }
    return bytes.subarray(0, length);
  } finally {
    fs.closeSync(file);
  }
}

/** The system's code of an error, such as ENOENT. */
export function codeOf(error: unknown): string {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === "string" ? code : "unknown";
}

/** Whether an error means that a path is a symbolic link, which the caller asked the system not to follow. */
export function isLink(error: unknown): boolean {
  // FreeBSD says EMLINK.
  return ["ELOOP", "EMLINK"].includes(codeOf(error));
}

/** Whether an error means that there is no such file. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error));
}
