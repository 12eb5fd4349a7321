/** A key of 32 random bytes. Its id is stored beside what was made with it: 1 to 16 of a-z, 0-9 and -. */
export interface RegistryKey {
  readonly id: string;
  readonly key: Uint8Array;
}

/** First is current; the others still open what was written under them. 1 to 4 of each kind. */
export interface RegistryKeys {
  /** Wrap the data keys of the records. */
  readonly master: readonly RegistryKey[];
  /** Make the blind indexes, pseudonyms and hashes of codes. */
  readonly index: readonly RegistryKey[];
}
