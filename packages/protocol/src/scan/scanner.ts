import { addPoints, BASE8, multiplyPoint, type Point, pointFromX } from "../curve/babyjub.ts";
import { SottoError } from "../errors.ts";
import { expectViewingKey } from "../keys.ts";
import { type Note, noteCommitment } from "../note.ts";
import { noteSecrets, openHint } from "../secrets.ts";
import { expectField, MAX_AMOUNT } from "../validate.ts";
import { multiplyX } from "./ladder.ts";

/** What reading received notes takes: enough for a merchant's server, which can then spend nothing. */
export interface Viewer {
  /** Odd, in [1, l). */
  readonly viewingKey: bigint;
  /** tag_0 of the wallet. */
  readonly ownerTag: bigint;
}

/** The part of a Settled event that delivers the recipient's note, under the event's own names. */
export interface DeliveredNote {
  /** x of R. */
  readonly encryptedAmountR: bigint;
  /** x of C. */
  readonly encryptedAmountC: bigint;
  /** pad + amount. */
  readonly amountHint: bigint;
  readonly recipientCommitment: bigint;
}

function pointOrNull(x: bigint): Point | null {
  try {
    return pointFromX(x);
  } catch (error) {
    if (error instanceof SottoError) return null;
    throw error;
  }
}

/** C = S + amount Base8 for the points of the subgroup that have these x: what the payment circuit proves. */
function opensCiphertext(viewingKey: bigint, note: DeliveredNote, amount: bigint): boolean {
  const R = pointOrNull(note.encryptedAmountR);
  if (R === null) return false;
  const C = addPoints(multiplyPoint(R, viewingKey), multiplyPoint(BASE8, amount));
  return C.x === note.encryptedAmountC;
}

/**
 * Reads one delivered note, or returns null: not for this viewer.
 *
 * Somebody else's note costs one multiplication on x alone and one permutation: under a wrong key the amount read is a
 * random field element, which fits into 64 bits with probability 2^-190. What fits is checked against the commitment
 * and the ciphertext.
 *
 * @throws SottoError INVALID_KEY, INVALID_FIELD_ELEMENT
 */
export function tryDecrypt(viewer: Viewer, note: DeliveredNote): Note | null {
  const viewingKey = expectViewingKey(viewer.viewingKey);
  const ownerTag = expectField(viewer.ownerTag, "ownerTag");
  const ephemeralX = expectField(note.encryptedAmountR, "encryptedAmountR");
  const hint = expectField(note.amountHint, "amountHint");
  expectField(note.encryptedAmountC, "encryptedAmountC");
  expectField(note.recipientCommitment, "recipientCommitment");

  const sharedX = multiplyX(ephemeralX, viewingKey);
  if (sharedX === null) return null;
  const { blinding, pad } = noteSecrets(sharedX, ephemeralX);
  const amount = openHint(hint, pad);
  if (amount > MAX_AMOUNT) return null;
  const read = { amount, ownerTag, blinding };
  if (noteCommitment(read) !== note.recipientCommitment) return null;
  return opensCiphertext(viewingKey, note, amount) ? read : null;
}

/** `tryDecrypt` for many notes; the result at i is that of note i. */
export function scanNotes(viewer: Viewer, notes: readonly DeliveredNote[]): (Note | null)[] {
  return notes.map((note) => tryDecrypt(viewer, note));
}
