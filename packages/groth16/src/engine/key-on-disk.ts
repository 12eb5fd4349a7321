/** A proving key in a file, of which each thread reads the parts that it needs: a large key would otherwise be in memory twice. */
import { unreadableFile } from "../errors.ts";
import type { StoredBytes } from "../fast/key-bytes.ts";

/** What tells whether a file is the same and unchanged. */
export interface FileStat {
  readonly size: bigint;
  readonly ino: bigint;
  readonly dev: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

export const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: FileStat): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join();

/** The part of Node that is used here, declared so that this package compiles without Node's types. */
interface WithFiles {
  readonly process?: { getBuiltinModule?(name: "node:fs"): Files | undefined };
}

interface Files {
  readonly constants: { readonly O_RDONLY: number; readonly O_NONBLOCK?: number };
  openSync(path: string, flags: number): number;
  fstatSync(file: number, options: { bigint: true }): FileStat;
  readSync(file: number, into: Uint8Array, offset: number, length: number, position: number): number;
  closeSync(file: number): void;
}

/** Which file it is. Other threads get it in a message. */
export interface FilePlace {
  /** Absolute. */
  readonly path: string;
  /** The path as the caller wrote it, for messages. Absent if it was a URL, which may contain a secret. */
  readonly name?: string | undefined;
  readonly byteLength: number;
  /** Of the file when it was found. */
  readonly stamp: string;
}

/**
 * Each read opens the file, so that no handle has to be closed later. It compares the file's identity, size and times before and
 * after, so that all threads have read the same file or the proof fails.
 */
export class KeyOnDisk implements StoredBytes {
  readonly place: FilePlace;

  constructor(place: FilePlace) {
    this.place = place;
  }

  get byteLength(): number {
    return this.place.byteLength;
  }

  /** @throws Groth16Error CIRCUIT_FILE_UNREADABLE */
  read(into: Uint8Array, offset: number): void {
    const files = (globalThis as WithFiles).process?.getBuiltinModule?.("node:fs");
    if (files === undefined) throw this.#unreadable("this runtime has no files");
    const { O_RDONLY, O_NONBLOCK = 0 } = files.constants;
    let file: number | undefined;
    try {
      // If a pipe has taken the file's place, opening it does not wait for a writer.
      file = files.openSync(this.place.path, O_RDONLY | O_NONBLOCK);
      this.#compare(files.fstatSync(file, { bigint: true }));
      for (let done = 0; done < into.byteLength; ) {
        const count = files.readSync(file, into, done, into.byteLength - done, offset + done);
        if (count === 0) throw this.#unreadable("it became shorter while it was read");
        done += count;
      }
      this.#compare(files.fstatSync(file, { bigint: true }));
    } catch (error) {
      const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown };
      throw syscall === undefined ? error : this.#unreadable(String(code), error);
    } finally {
      if (file !== undefined) files.closeSync(file);
    }
  }

  #compare(stat: FileStat): void {
    if (stampOf(stat) !== this.place.stamp) throw this.#unreadable("it changed while it was read");
  }

  #unreadable(reason: string, cause?: unknown): Error {
    const { name } = this.place;
    return name === undefined
      ? unreadableFile("proving key", reason)
      : unreadableFile("proving key", `${name}: ${reason}`, cause);
  }
}
