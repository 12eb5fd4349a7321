import { type Note, noteCommitment } from "../note.ts";
import { changeSecrets, openHint } from "../secrets.ts";
import { assertField, assertObject, MAX_AMOUNT } from "../validate.ts";

/** The keys that find a wallet's change. */
export interface ChangeReader {
  /** The wallet's change key of this pool, a field element. It also shows what the wallet spent. */
  readonly changeKey: bigint;
  /** tag_0 of the wallet. */
  readonly ownerTag: bigint;
}

/** The part of a Settled or Withdrawn event by which a wallet delivers a note to itself. */
export interface DeliveredChange {
  /** Nullifier of the (first) spent note, from which the wallet recognizes its own event. */
  readonly nullifier: bigint;
  /** R.x of a payment, `withdrawalPadContext` of a withdrawal. */
  readonly unique: bigint;
  /** changePad + amount. */
  readonly changeHint: bigint;
  /** Commitment of the change or output note, a field element. */
  readonly changeCommitment: bigint;
}

/**
 * Decrypts the change of the wallet's own payment, or the output of its own withdrawal; null if the commitment differs.
 * @throws SottoError INVALID_FIELD_ELEMENT
 */
export function decryptChange(reader: ChangeReader, event: DeliveredChange): Note | null {
  assertObject(reader, "the reader");
  assertObject(event, "the event");
  const ownerTag = assertField(reader.ownerTag, "ownerTag");
  const { blinding, pad } = changeSecrets(reader.changeKey, event.nullifier, event.unique);
  const amount = openHint(event.changeHint, pad);
  if (amount > MAX_AMOUNT) return null;
  const note = { amount, ownerTag, blinding };
  return noteCommitment(note) === assertField(event.changeCommitment, "changeCommitment") ? note : null;
}
