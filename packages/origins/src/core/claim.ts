import { assertObject, fail, parseBaseField, parseField, recode } from "@sotto/protocol/extend";

/** A proof of origin for the note behind a nullifier: it was in the set with this mask root. */
export interface OriginClaim {
  /** Nullifier of the note, a field element, never 0. */
  readonly nullifier: bigint;
  /** Root of a mask tree, a field element. */
  readonly maskRoot: bigint;
  /** The proof: eight decimal words in the wire's order. */
  readonly proof: readonly string[];
}

/** The wire form of a claim: JSON with decimal strings. */
export interface WireClaim {
  /** Decimal, below p, never 0. */
  readonly nullifier: string;
  /** Decimal, below p. */
  readonly maskRoot: string;
  /** Eight decimal words below q. */
  readonly proof: readonly string[];
}

/** Number of words of a proof. */
export const PROOF_WORDS = 8;

/** A claim for JSON. */
export const encodeClaim = ({ nullifier, maskRoot, proof }: OriginClaim): WireClaim => ({
  nullifier: String(nullifier),
  maskRoot: String(maskRoot),
  proof: [...proof],
});

/** Inverse of `encodeClaim`, for a claim from another party. Does not check the proof. @throws SottoError INVALID_ARGUMENT */
export function decodeClaim(wire: unknown): OriginClaim {
  return recode("INVALID_ARGUMENT", "not a claim", () => {
    assertObject(wire, "a claim");
    const fields = wire as Record<keyof WireClaim, unknown>;
    const nullifier = parseField(fields.nullifier, "nullifier");
    if (nullifier === 0n) fail("INVALID_ARGUMENT", "no note has the nullifier 0");
    return { nullifier, maskRoot: parseField(fields.maskRoot, "maskRoot"), proof: parseProof(fields.proof) };
  });
}

/** The eight words of a proof. @throws SottoError INVALID_ARGUMENT, INVALID_FIELD_ELEMENT */
export function parseProof(value: unknown): string[] {
  if (!Array.isArray(value) || value.length !== PROOF_WORDS)
    fail("INVALID_ARGUMENT", `a proof has ${PROOF_WORDS} words`);
  return value.map((word, i) => String(parseBaseField(word, `word ${i} of the proof`)));
}
