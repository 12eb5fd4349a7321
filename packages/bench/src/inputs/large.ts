// What the sets of a million notes have in common.

/** The curator's private key. */
export const SECRET = new Uint8Array(32).fill(9);

/** The commitment of a leaf. Nobody opens the leaves, so they need not be commitments. */
export const leafAt = (leaf: number): bigint => BigInt(leaf + 1) * 0x1234567890abcdef1234567890abcdef1234567890abcdefn;

/** A hash of a block or a transaction, made of a number. */
export const hashOf = (value: number): `0x${string}` => `0x${value.toString(16).padStart(64, "0")}`;
