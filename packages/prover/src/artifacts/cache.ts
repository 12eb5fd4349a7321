/**
 * Keeps downloaded artifacts. The files from a cache are not trusted: the caller checks each file's hash, so a damaged
 * or foreign entry costs only another download. Several processes or tabs may use one cache at the same time.
 */
export interface ArtifactCache {
  /** Location of the entries, a folder or a database, for error messages. */
  readonly location: string;
  /**
   * Reads a complete file.
   * @param name the name of the file: its SHA-256 and kind, such as `9c42...652a.wasm`
   * @returns undefined if there is no such file or it is larger than `maxBytes`
   */
  read(name: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /** Stores a complete file atomically (a reader sees all of it or nothing), and deletes its part. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Deletes a file and its part. */
  remove(name: string): Promise<void>;
  /** The first bytes of a file from an interrupted download; undefined if there are none, or more than `maxBytes`. */
  readPart(name: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /**
   * Stores bytes of a download that is not complete. Downloads of one file write the same bytes at the same offsets, so
   * concurrent downloads do not conflict.
   * @param offset the offset of `bytes` in the file; everything before it was stored
   */
  writePart(name: string, offset: number, bytes: Uint8Array): Promise<void>;
}
