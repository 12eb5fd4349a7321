import { WalletError } from "../errors.ts";
import type { FoundNote } from "../scan/notes.ts";
import type { Journal } from "./journal.ts";
import type { WalletNote } from "./state.ts";

/** The parties that see the nullifier of a spent note. */
export interface Audience {
  shieldedAddress: string;
  /** Base URL of the service, null if unknown. */
  service: string | null;
}

/**
 * Whether only `audience` has seen the nullifier of this note. A payment that was proved but never settled leaves its
 * note unspent, but those who saw the proof recognize the nullifier in another payment.
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

/**
 * Whether a withdrawal or merge of this note was proved before. It did not settle, so a new one may not settle either.
 */
export function wasWithdrawn(journal: Journal, { nullifier }: FoundNote): boolean {
  return journal.shownBy(String(nullifier)).some(({ kind }) => kind === "withdrawal");
}

/** Runs `select` on those of the notes that nobody has seen or, if they do not suffice, on all. @param only default: all notes */
export function preferUnseen<T>(
  journal: Journal,
  only: (note: WalletNote) => boolean = () => true,
  select: (only: (note: WalletNote) => boolean) => T,
): T {
  try {
    return select((note) => only(note) && isUnseen(journal, note));
  } catch (error) {
    if (!(error instanceof WalletError)) throw error;
    return select(only);
  }
}
