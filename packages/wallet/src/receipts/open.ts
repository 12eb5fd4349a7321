import type { SettledEvent } from "@sotto/chain";
import {
  addPoints,
  BASE8,
  FIELD_MODULUS,
  MAX_AMOUNT,
  multiplyPoint,
  negatePoint,
  noteCommitment,
  noteSecrets,
  openHint,
  pointFromX,
} from "@sotto/protocol";

/** The part of a Settled event that delivers the recipient's note. */
export type Delivered = Pick<SettledEvent, "ephemeralX" | "amountHint" | "recipientCommitment">;

/**
 * The amount of a delivered note, from the x of its shared point S: hint minus pad, checked against the commitment to
 * amount, owner tag and blinding. Undefined if the note does not belong to this tag under this S.
 */
export function openWithShared(event: Delivered, ownerTag: bigint, sharedX: bigint): bigint | undefined {
  const { blinding, pad } = noteSecrets(sharedX, event.ephemeralX);
  const amount = openHint(event.amountHint, pad);
  if (amount > MAX_AMOUNT) return undefined;
  return noteCommitment({ amount, ownerTag, blinding }) === event.recipientCommitment ? amount : undefined;
}

/** C.x of a payment: the event's value minus the sender commitment that hides it. */
export function cipherX(hiddenCipherX: bigint, senderCommitment: bigint): bigint {
  return (hiddenCipherX - senderCommitment + FIELD_MODULUS) % FIELD_MODULUS;
}

/**
 * Whether C encrypts `amount` and the delivered note contains it: S = C - amount Base8 opens the note. Anyone who has C
 * can test an amount this way.
 * @throws SottoError INVALID_POINT if no point of the subgroup has this x
 */
export function confirmsAmount(event: Delivered, ownerTag: bigint, cx: bigint, amount: bigint): boolean {
  const shared = addPoints(pointFromX(cx, "C.x"), negatePoint(multiplyPoint(BASE8, amount)));
  return openWithShared(event, ownerTag, shared.x) === amount;
}
