import { fail } from "../errors.ts";
import { assertViewingKey } from "../keys.ts";
import { type Note, noteCommitment } from "../note.ts";
import { noteSecrets, openHint } from "../secrets.ts";
import { assertField, assertObject, MAX_AMOUNT } from "../validate.ts";
import { multiplyXs } from "./ladder.ts";

/** The keys that read received notes. A recipient's server needs only these. They cannot spend. */
export interface Viewer {
  /** Odd, in [1, l). */
  readonly viewingKey: bigint;
  /** tag_0 of the wallet. */
  readonly ownerTag: bigint;
}

/** The part of a Settled event that delivers the recipient's note, with the event's field names. */
export interface DeliveredNote {
  /** x of R. */
  readonly ephemeralX: bigint;
  /** pad + amount. */
  readonly amountHint: bigint;
  /** Commitment of the recipient's note, a field element. */
  readonly recipientCommitment: bigint;
}

function assertNote(note: DeliveredNote): void {
  assertObject(note, "a note");
  assertField(note.ephemeralX, "ephemeralX");
  assertField(note.amountHint, "amountHint");
  assertField(note.recipientCommitment, "recipientCommitment");
}

/** Decrypts a note with the shared point's x; null if the note is not for this viewer. */
function open(viewer: Viewer, note: DeliveredNote, sharedX: bigint | null): Note | null {
  if (sharedX === null) return null;
  const { blinding, pad } = noteSecrets(sharedX, note.ephemeralX);
  const amount = openHint(note.amountHint, pad);
  if (amount > MAX_AMOUNT) return null;
  const read = { amount, ownerTag: viewer.ownerTag, blinding };
  return noteCommitment(read) === note.recipientCommitment ? read : null;
}

/** Computes the shared points: `multiplyXs`, or a faster function with the same results. */
export type MultiplyXs = (xs: readonly bigint[], k: bigint) => readonly (bigint | null)[];

/**
 * Reads delivered notes. The result at index i belongs to note i, and is null if the note is not for this viewer.
 *
 * Someone else's note costs one x-only multiplication and one permutation: the amount decrypted with a wrong key is a
 * random field element, which fits into 64 bits with probability 2^-190. If the amount fits, it is checked against the
 * commitment, which commits to amount, owner and blinding. Notes of one call share inversions: pass dozens at a time.
 *
 * @throws SottoError INVALID_KEY, INVALID_FIELD_ELEMENT
 */
export function scanNotes(
  viewer: Viewer,
  notes: readonly DeliveredNote[],
  multiply: MultiplyXs = multiplyXs,
): (Note | null)[] {
  assertObject(viewer, "the viewer");
  if (!Array.isArray(notes)) fail("INVALID_ARGUMENT", "notes must be an array");
  const viewingKey = assertViewingKey(viewer.viewingKey);
  assertField(viewer.ownerTag, "ownerTag");
  for (const note of notes) assertNote(note);
  const shared = multiply(
    notes.map((note) => note.ephemeralX),
    viewingKey,
  );
  return notes.map((note, i) => open(viewer, note, shared[i]!));
}

/** `scanNotes` for one note. */
export function tryDecrypt(viewer: Viewer, note: DeliveredNote): Note | null {
  return scanNotes(viewer, [note])[0]!;
}
