import { WalletError } from "../errors.ts";
import type { FoundNote } from "../scan/notes.ts";
import type { WalletCore } from "./core.ts";
import type { JournalRecord } from "./journal.ts";
import { holderOf, statusOf } from "./state.ts";

/**
 * The notes of an earlier attempt, to be spent by another one. All attempts must spend the same notes, so that at most
 * one of them can settle.
 * @throws WalletError PAYMENT_SETTLED, PAYMENT_CLOSED
 */
export function reusableNotes(core: WalletCore, record: JournalRecord): FoundNote[] {
  const { id, notes, nullifiers } = record;
  const { state, transactionHash = "" } = statusOf(record, core.view);
  if (state === "settled")
    throw new WalletError("PAYMENT_SETTLED", `payment ${id} was settled in ${transactionHash}`, { transactionHash });
  const known = new Map(core.notes().map((note) => [String(note.nullifier), note]));
  return notes.map((_, i) => {
    const note = known.get(nullifiers[i]!);
    const own = note?.state === "held" && holderOf(note, core.view)?.id === id;
    if (note?.state === "spendable" || (note && own)) return note;
    const found = note === undefined ? "no longer in the wallet" : note.state;
    throw new WalletError("PAYMENT_CLOSED", `payment ${id} cannot be retried: its note is ${found}`);
  });
}
