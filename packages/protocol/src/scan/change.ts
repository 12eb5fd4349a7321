import { type Note, noteCommitment } from "../note.ts";
import { changeSecrets, openHint } from "../secrets.ts";
import { assertField, assertObject, MAX_AMOUNT } from "../validate.ts";

/** What finding change takes. */
export interface ChangeReader {
  readonly changeKey: bigint;
  /** tag_0 of the wallet. */
  readonly ownerTag: bigint;
}

/** The part of a Settled or Withdrawn event that delivers a wallet's note to itself. */
export interface DeliveredChange {
  /** Nullifier of the spent note, the first one of a withdrawal: by it the wallet knows the event as its own. */
  readonly nullifier: bigint;
  /** R.x of a payment, `withdrawalPadContext` of a withdrawal. */
  readonly unique: bigint;
  /** changePad + amount. */
  readonly changeHint: bigint;
  readonly changeCommitment: bigint;
}

/**
 * Reads the change of a payment, or the output of a withdrawal, that the wallet itself made; null where the commitment
 * is another one.
 *
 * @throws SottoError INVALID_FIELD_ELEMENT
 */
export function readChange(reader: ChangeReader, event: DeliveredChange): Note | null {
  assertObject(reader, "the reader");
  assertObject(event, "the event");
  const ownerTag = assertField(reader.ownerTag, "ownerTag");
  const { blinding, pad } = changeSecrets(reader.changeKey, event.nullifier, event.unique);
  const amount = openHint(event.changeHint, pad);
  if (amount > MAX_AMOUNT) return null;
  const note = { amount, ownerTag, blinding };
  return noteCommitment(note) === assertField(event.changeCommitment, "changeCommitment") ? note : null;
}
