import { addressToBigInt } from "./ethereum-address.ts";
import { FIELD_MODULUS } from "./field.ts";
import { DOMAIN, poseidon, poseidonEx } from "./poseidon/hash.ts";
import { type PermuteMany, permuteMany } from "./poseidon/permutation.ts";
import { nonceOfReceiptKey, receiptKeyOf, receiptSecret } from "./receipt-key.ts";
import { assertField, assertObject } from "./validate.ts";

/** The secrets of a note: its blinding, and the one-time pad that encrypts its amount. */
export interface NoteSecrets {
  /** Blinding of the note, a field element. */
  readonly blinding: bigint;
  /** A field element; the amount travels as pad + amount, mod p. */
  readonly pad: bigint;
}

/** (blinding, pad) = PoseidonEx(2->2)(S.x, R.x). The payer knows S; the recipient computes S.x from R.x. */
export function noteSecrets(sharedX: bigint, ephemeralX: bigint): NoteSecrets {
  return noteSecretsMany([{ sharedX, ephemeralX }], permuteMany)[0]!;
}

/** `noteSecrets` for many notes. */
export function noteSecretsMany(
  points: readonly { sharedX: bigint; ephemeralX: bigint }[],
  permutation: PermuteMany,
): NoteSecrets[] {
  const states = points.map(({ sharedX, ephemeralX }) => [
    BigInt(DOMAIN.encryption),
    assertField(sharedX, "S.x"),
    assertField(ephemeralX, "R.x"),
  ]);
  return permutation(states, 2).map(([blinding, pad]) => ({ blinding: blinding!, pad: pad! }));
}

/**
 * (blinding, pad) = PoseidonEx(3->2)(ck, nf, unique) of a note that a wallet creates for itself.
 * @param nf nullifier of the (first) spent note, from which a restored wallet finds its change
 * @param unique differs between two attempts with the same note, so that no pad is used twice: R.x of a payment,
 *   `withdrawalPadContext` of a withdrawal
 */
export function changeSecrets(changeKey: bigint, nf: bigint, unique: bigint): NoteSecrets {
  const inputs = [assertField(changeKey, "changeKey"), assertField(nf, "nullifier"), assertField(unique, "unique")];
  const [blinding, pad] = poseidonEx(inputs, 2, DOMAIN.change);
  return { blinding: blinding!, pad: pad! };
}

/** hint = pad + amount: a one-time pad in the field. */
export function hintOf(pad: bigint, amount: bigint): bigint {
  return (assertField(pad, "pad") + assertField(amount, "amount")) % FIELD_MODULUS;
}

/** hint - pad mod p: the amount if it is below 2^64; otherwise the note is someone else's. */
export function openHint(hint: bigint, pad: bigint): bigint {
  const difference = assertField(hint, "hint") - assertField(pad, "pad");
  return difference < 0n ? difference + FIELD_MODULUS : difference;
}

/**
 * C.x + senderCommitment mod p, the form of C on chain. If C itself were public, an observer who guesses the amount
 * could compute S = C - amount Base8, and from S the pad. The sender commitment does not appear on chain, and is fresh
 * for each attempt.
 */
export function hiddenCipherX(cipherX: bigint, senderCommitment: bigint): bigint {
  return (assertField(cipherX, "C.x") + assertField(senderCommitment, "senderCommitment")) % FIELD_MODULUS;
}

/**
 * The nonce of a sender commitment: the hash of this attempt's public receipt key (see receipt-key.ts). The wallet can
 * derive both again to prove later who paid.
 * @param nonceKey 32 bytes
 */
export function senderNonce(nonceKey: Uint8Array, nf: bigint, ephemeralX: bigint): bigint {
  return nonceOfReceiptKey(receiptKeyOf(receiptSecret(nonceKey, nf, ephemeralX)));
}

/** senderCommitment = Poseidon2(tag of the spent note, nonce): hides the sender, and salts signals 0 and 1. */
export function senderCommitment(ownerTag: bigint, nonce: bigint): bigint {
  return poseidon([assertField(ownerTag, "ownerTag"), assertField(nonce, "nonce")], DOMAIN.senderCommitment);
}

/** The recipient of a payment: its wallet on the wire, and the two parts of its shielded address. */
export interface Recipient {
  /** Ethereum address, 20 bytes, hex with 0x. */
  readonly wallet: string;
  /** PK.x; it determines PK, because PK is in the prime-order subgroup. */
  readonly keyX: bigint;
  /** tag_0 of the recipient, a field element. */
  readonly ownerTag: bigint;
}

/** Signal 0 of a payment: Poseidon4(wallet, PK.x, tag, senderCommitment). */
export function recipientSignal(recipient: Recipient, sender: bigint): bigint {
  assertObject(recipient, "the recipient");
  const { wallet, keyX, ownerTag } = recipient;
  const inputs = [addressToBigInt(wallet, "wallet"), keyX, ownerTag, sender];
  return poseidon(inputs, DOMAIN.recipient);
}
