import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export const sha256 = (...parts: (Uint8Array | string)[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};

export const sha256File = (path: string): string => sha256(readFileSync(path));

/** Replaces a file atomically: an interrupted write leaves the old file, and readers never see a partial one. */
export function writeAtomically(path: string, ...parts: (Uint8Array | string)[]): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part))));
    renameSync(temporary, path);
  } catch (error) {
    // On a full disk, the partial file would occupy the remaining space.
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Writes a file only if its content differs, so that its dependents are not rebuilt. @returns whether it was written */
export function writeIfChanged(path: string, content: string): boolean {
  if (existsSync(path) && readFileSync(path, "utf8") === content) return false;
  writeAtomically(path, content);
  return true;
}

export const toJson = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;
