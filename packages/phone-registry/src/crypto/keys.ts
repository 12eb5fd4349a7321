/** A key of 32 random bytes. Its id, 1 to 16 characters of a-z, 0-9 and -, is stored with everything made under it. */
export interface RegistryKey {
  /** Different for each key of a ring. */
  readonly id: string;
  /** Secret, 32 bytes. */
  readonly key: Uint8Array;
}

/** 1 to 4 keys of each kind. The first is current; the others still decrypt what was written under them. */
export interface RegistryKeys {
  /** Wrap the records' data keys. */
  readonly master: readonly RegistryKey[];
  /** Make blind indexes, pseudonyms and hashes of codes. */
  readonly index: readonly RegistryKey[];
}
