import { fail } from "../errors.ts";
import { assertViewingKey } from "../keys.ts";
import { type Note, noteCommitment } from "../note.ts";
import { type PermuteMany, permuteMany } from "../poseidon/permutation.ts";
import { type NoteSecrets, noteSecretsMany, openHint } from "../secrets.ts";
import { assertField, assertObject, MAX_AMOUNT } from "../validate.ts";
import { multiplyXs } from "./ladder.ts";

/** The keys that read received notes. A recipient's server needs only these. They cannot spend. */
export interface Viewer {
  /** Keys with which each note is tried, in this order: odd, in [1, l). */
  readonly viewingKeys: readonly bigint[];
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

/** A received note, and the key that opened it. */
export interface ReceivedNote extends Note {
  /** Index of the viewing key among those of the viewer. */
  readonly key: number;
}

function assertNote(note: DeliveredNote): void {
  assertObject(note, "a note");
  assertField(note.ephemeralX, "ephemeralX");
  assertField(note.amountHint, "amountHint");
  assertField(note.recipientCommitment, "recipientCommitment");
}

/** Decrypts a note with the secrets that it would have; null if the note is not for this viewer. */
function open(ownerTag: bigint, note: DeliveredNote, { blinding, pad }: NoteSecrets): Note | null {
  const amount = openHint(note.amountHint, pad);
  if (amount > MAX_AMOUNT) return null;
  const read = { amount, ownerTag, blinding };
  return noteCommitment(read) === note.recipientCommitment ? read : null;
}

/** The functions that take the most time of a scan. */
export interface ScanKernel {
  /** Computes the x of k R for many R and k, like the function `multiplyXs`. */
  readonly multiplyXs: (xs: readonly bigint[], ks: readonly bigint[]) => readonly (readonly (bigint | null)[])[];
  /** Permutes states of three lanes. */
  readonly permuteMany: PermuteMany;
}

/** The kernel that runs everywhere. */
const PLAIN: ScanKernel = { multiplyXs, permuteMany };

/**
 * Reads delivered notes. The result at index i belongs to note i, and is null if the note is not for this viewer.
 *
 * Someone else's note costs one x-only multiplication and one permutation for each key: the amount decrypted with a wrong key is
 * a random field element, which fits into 64 bits with probability 2^-190. If the amount fits, it is checked against the
 * commitment, which commits to amount, owner and blinding. Notes of one call share inversions: pass dozens at a time.
 * @param kernel a faster kernel with the same results; by default, functions of this package
 * @throws SottoError INVALID_KEY, INVALID_FIELD_ELEMENT
 */
export function scanNotes(
  viewer: Viewer,
  notes: readonly DeliveredNote[],
  kernel: ScanKernel = PLAIN,
): (ReceivedNote | null)[] {
  assertObject(viewer, "the viewer");
  if (!Array.isArray(notes)) fail("INVALID_ARGUMENT", "notes must be an array");
  if (!Array.isArray(viewer.viewingKeys)) fail("INVALID_KEY", "viewingKeys must be an array");
  const keys = viewer.viewingKeys.map(assertViewingKey);
  const ownerTag = assertField(viewer.ownerTag, "ownerTag");
  for (const note of notes) assertNote(note);
  const shared = kernel.multiplyXs(
    notes.map((note) => note.ephemeralX),
    keys,
  );
  const points = notes.flatMap(({ ephemeralX }, index) =>
    shared[index]!.flatMap((sharedX, key) => (sharedX === null ? [] : [{ index, key, sharedX, ephemeralX }])),
  );
  const secrets = noteSecretsMany(points, kernel.permuteMany);
  const results = new Array<ReceivedNote | null>(notes.length).fill(null);
  for (const [i, { index, key }] of points.entries()) {
    const note = open(ownerTag, notes[index]!, secrets[i]!);
    if (note !== null) results[index] = { ...note, key };
  }
  return results;
}

/** `scanNotes` for one note. */
export function tryDecrypt(viewer: Viewer, note: DeliveredNote): ReceivedNote | null {
  return scanNotes(viewer, [note])[0]!;
}
