/** The part of Node's file system that is used here, declared so that this package compiles without Node's types. */
export interface FileSystem {
  stat(path: string): Promise<{ size: number; isFile(): boolean }>;
  readFile(path: string): Promise<Uint8Array>;
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
  readonly process?: { getBuiltinModule?(name: "node:fs/promises"): FileSystem | undefined };
}

/** @returns undefined outside Node */
export function fileSystem(): FileSystem | undefined {
  // This is not an import, because bundlers for browsers would try to resolve it.
  return (globalThis as WithNode).process?.getBuiltinModule?.("node:fs/promises");
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
