import { addressToBigInt } from "./ethereum-address.ts";
import { FIELD_MODULUS } from "./field.ts";
import { DOMAIN, poseidon, poseidonEx } from "./poseidon/hash.ts";
import { nonceOfReceiptKey, receiptKeyOf, receiptSecret } from "./receipt-key.ts";
import { assertField, assertObject } from "./validate.ts";

/** What makes a note out of an amount, and the pad under which its amount travels. */
export interface NoteSecrets {
  readonly blinding: bigint;
  readonly pad: bigint;
}

/** (blinding, pad) = PoseidonEx(2->2)(S.x, R.x): known to the payer, and to the recipient from R.x alone. */
export function noteSecrets(sharedX: bigint, ephemeralX: bigint): NoteSecrets {
  const [blinding, pad] = poseidonEx(
    [assertField(sharedX, "S.x"), assertField(ephemeralX, "R.x")],
    2,
    DOMAIN.encryption,
  );
  return { blinding: blinding!, pad: pad! };
}

/**
 * (blinding, pad) = PoseidonEx(3->2)(ck, nf, unique) of a note a wallet makes for itself.
 *
 * @param nf nullifier of the (first) spent note: by it a restored wallet finds its change
 * @param unique what differs between two attempts with the same note, so that no pad is used twice: R.x of a payment,
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

/** hint - pad: an amount where it is below 2^64, otherwise the note is somebody else's. */
export function openHint(hint: bigint, pad: bigint): bigint {
  const difference = assertField(hint, "hint") - assertField(pad, "pad");
  return difference < 0n ? difference + FIELD_MODULUS : difference;
}

/**
 * C.x + senderCommitment mod p, the form of C on chain. From C itself, anyone who guesses the amount would get
 * S = C - amount Base8 and with it the pad. The sender commitment is secret on chain, and fresh for each attempt.
 */
export function hiddenCipherX(cipherX: bigint, senderCommitment: bigint): bigint {
  return (assertField(cipherX, "C.x") + assertField(senderCommitment, "senderCommitment")) % FIELD_MODULUS;
}

/**
 * The nonce of a sender commitment: the hash of this attempt's public receipt key (see receipt-key.ts). The wallet can
 * make key and nonce again to prove later who paid.
 *
 * @param nonceKey 32 bytes
 */
export function senderNonce(nonceKey: Uint8Array, nf: bigint, ephemeralX: bigint): bigint {
  return nonceOfReceiptKey(receiptKeyOf(receiptSecret(nonceKey, nf, ephemeralX)));
}

/** senderCommitment = Poseidon2(tag of the spent note, nonce): hides the sender, and salts signals 0 and 1. */
export function senderCommitment(ownerTag: bigint, nonce: bigint): bigint {
  return poseidon([assertField(ownerTag, "ownerTag"), assertField(nonce, "nonce")], DOMAIN.senderCommitment);
}

/** Who a payment is for: the wallet of the wire and the two halves of its shielded address. */
export interface Recipient {
  /** Ethereum address. */
  readonly wallet: string;
  /** PK.x; in the prime-order subgroup it determines the key. */
  readonly keyX: bigint;
  readonly ownerTag: bigint;
}

/** Signal 0 of a payment: Poseidon4(wallet, PK.x, tag, senderCommitment). */
export function recipientSignal(recipient: Recipient, sender: bigint): bigint {
  assertObject(recipient, "the recipient");
  const { wallet, keyX, ownerTag } = recipient;
  const inputs = [addressToBigInt(wallet, "wallet"), keyX, ownerTag, sender];
  return poseidon(inputs, DOMAIN.recipient);
}
