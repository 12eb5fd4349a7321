/**
 * Keeps downloaded artifacts. What a cache returns is not trusted: the caller checks each file's hash, so a damaged or
 * foreign entry costs a download and nothing else. Several processes or tabs may use one cache at the same time.
 */
export interface ArtifactCache {
  /** Where the entries are, for error messages: a folder or a database. */
  readonly location: string;
  /**
   * @param name of the file: its SHA-256 and kind, such as `9c42...652a.wasm`
   * @returns undefined if there is no such file, or a larger one than `maxBytes`
   */
  read(name: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /** Stores a complete file, so that a reader sees all of it or nothing, and deletes its part. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Deletes a file and its part. */
  remove(name: string): Promise<void>;
  /** The first bytes of a file from an interrupted download; undefined if there are none, or more than `maxBytes`. */
  readPart(name: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /**
   * Stores bytes of a download that is not complete. Downloads of one file write the same bytes to the same places, so
   * several at a time do not disturb each other.
   *
   * @param offset of `bytes` in the file; everything before it was stored
   */
  writePart(name: string, offset: number, bytes: Uint8Array): Promise<void>;
}
