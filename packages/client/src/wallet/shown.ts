import { WalletError } from "../errors.ts";
import type { FoundNote } from "../scan/notes.ts";
import type { Journal } from "./journal.ts";
import type { Funds } from "./select.ts";

/** Who sees the nullifier of a note that is paid from. */
export interface Audience {
  shieldedAddress: string;
  /** Base address of the service, null if unknown. */
  service: string | null;
}

/**
 * Whether nobody beyond `audience` was shown the nullifier of this note. A payment that was proved and never settled
 * leaves its note unspent, but whoever had the proof recognizes the nullifier when another payment shows it.
 */
export function isUnseen(journal: Journal, { nullifier }: FoundNote, audience?: Audience): boolean {
  return journal
    .shownBy(String(nullifier))
    .every(
      (spend) =>
        spend.kind === "payment" &&
        spend.recipient.shieldedAddress === audience?.shieldedAddress &&
        spend.service === audience.service,
    );
}

/** Whether a withdrawal or a merge of this note was proved before. It did not settle, so another one might not either. */
export function wasWithdrawn(journal: Journal, { nullifier }: FoundNote): boolean {
  return journal.shownBy(String(nullifier)).some(({ kind }) => kind === "withdrawal");
}

/** What `select` takes from the notes that nobody was shown or, if they do not suffice, from all. */
export function preferUnseen<N extends FoundNote>(
  journal: Journal,
  funds: Funds<N>,
  select: (funds: Funds<N>) => N[],
): N[] {
  const spendable = funds.spendable.filter((note) => isUnseen(journal, note));
  if (spendable.length === funds.spendable.length) return select(funds);
  try {
    return select({ ...funds, spendable });
  } catch (error) {
    if (!(error instanceof WalletError)) throw error;
    return select(funds);
  }
}
