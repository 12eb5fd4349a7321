import { proverError } from "../errors.ts";
import type { ArtifactCache } from "./cache.ts";
import {
  codeOf,
  type FileHandle,
  type FileSystem,
  fileSystem,
  isLink,
  isMissing,
  readWhole,
  type SyncFileSystem,
  syncFileSystem,
} from "./node-files.ts";

/** Only the owner can read the files, because they reveal which circuits the owner uses. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Maximum attempts to open a file that other processes are creating and renaming at the same time. */
const MAX_TRIES = 10;

/**
 * A cache in a folder: complete files are `NAME`, the parts of interrupted downloads are `NAME.part`. Node only.
 * @throws SottoError ARTIFACTS_SOURCE_INVALID outside Node
 */
export function diskCache(folder: string): ArtifactCache {
  const [fs, sync] = [fileSystem(), syncFileSystem()];
  if (fs === undefined || sync === undefined)
    throw proverError("ARTIFACTS_SOURCE_INVALID", "A folder can be used as the cache of artifacts only in Node.");
  return new DiskCache(fs, sync, folder.replace(/[\\/]+$/, ""));
}

class DiskCache implements ArtifactCache {
  readonly location: string;
  readonly #fs: FileSystem;
  readonly #sync: SyncFileSystem;

  constructor(fs: FileSystem, sync: SyncFileSystem, location: string) {
    this.#fs = fs;
    this.#sync = sync;
    this.location = location;
  }

  read(name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    return this.#read(this.#path(name), maxBytes);
  }

  readPart(name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    return this.#read(this.#part(name), maxBytes);
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const part = this.#part(name);
    const file = await this.#open(part);
    try {
      await writeAll(file, 0, bytes);
      await file.truncate(bytes.length);
      await file.sync();
    } finally {
      await file.close();
    }
    try {
      await this.#fs.rename(part, this.#path(name));
    } catch (error) {
      // Another process completed the same download and already renamed the part.
      if (!isMissing(error)) throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await this.#fs.rm(this.#path(name), { force: true });
    await this.#fs.rm(this.#part(name), { force: true });
  }

  async writePart(name: string, offset: number, bytes: Uint8Array): Promise<void> {
    const file = await this.#open(this.#part(name));
    try {
      // Another process has completed the file and removed the part: a new part must not start with a gap.
      if ((await file.stat()).size >= offset) await writeAll(file, offset, bytes);
    } finally {
      await file.close();
    }
  }

  #path(name: string): string {
    return `${this.location}/${name}`;
  }

  #part(name: string): string {
    return `${this.#path(name)}.part`;
  }

  async #read(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
    try {
      const found = this.#sync.statSync(path);
      if (!found.isFile() || found.size > maxBytes) return undefined;
      return readWhole(this.#sync, path, found.size);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /**
   * Opens a file for writing at any position, and creates it and its folder if needed. It does not follow symbolic
   * links: otherwise anyone with write access to the folder could make the download overwrite any file of this user.
   */
  async #open(path: string): Promise<FileHandle> {
    const { O_RDWR, O_NOFOLLOW = 0 } = this.#fs.constants;
    await this.#fs.mkdir(this.location, { recursive: true, mode: FOLDER_MODE });
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#fs.open(path, O_RDWR | O_NOFOLLOW, FILE_MODE);
      } catch (error) {
        if (isLink(error)) throw linkError(path, error);
        if (codeOf(error) !== "ENOENT") throw error;
      }
      try {
        return await this.#fs.open(path, "wx", FILE_MODE);
      } catch (error) {
        // Another process created it in between.
        if (codeOf(error) !== "EEXIST" || tries >= MAX_TRIES) throw error;
      }
    }
  }
}

const linkError = (path: string, cause: unknown): Error =>
  Object.assign(new Error(`${path} is a symbolic link, which is not followed; remove it`, { cause }), {
    code: "SYMBOLIC_LINK",
  });

async function writeAll(file: FileHandle, offset: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; )
    at += (await file.write(bytes, at, bytes.length - at, offset + at)).bytesWritten;
}
