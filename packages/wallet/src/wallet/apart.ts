// Notes that must not be spent together: code that extends the wallet sorts them into groups.
import { WalletError } from "../errors.ts";
import type { Funds } from "./select.ts";
import { fundsOf, type WalletNote } from "./state.ts";

/** Names the group of a note. Notes of different groups are not spent together. */
export type GroupOf = (note: WalletNote) => string;

/** Consent to spend notes of different groups together. */
export interface MixOption {
  /** Spends notes together that code which extends the wallet keeps apart (`Wallet.keepApart`). Default: false. */
  mix?: boolean | undefined;
}

/** Which notes a payment may spend. Without it, the wallet selects among all notes. */
export interface NoteChoice {
  /** Notes to spend rather than others, if one of them suffices and was not shown to others. Default: none. */
  prefer?: ((note: WalletNote) => boolean) | undefined;
  /**
   * The only notes to spend, also in merges before the payment. The note that such a merge makes has to be one of them too, or the payment
   * ends with NOTES_APART after the merge. Default: all.
   */
  only?: ((note: WalletNote) => boolean) | undefined;
}

/** The groups of a wallet's notes. Without a sorting, all notes are one group. */
export class NoteGroups {
  readonly #sortings = new Set<{ readonly groupOf: GroupOf }>();

  /** Adds a sorting: notes stay together if every sorting puts them into one group. @returns removes it */
  add(groupOf: GroupOf): () => void {
    const sorting = { groupOf };
    this.#sortings.add(sorting);
    return () => void this.#sortings.delete(sorting);
  }

  /** The funds of each group, the group with the most spendable money first. At least one group, which may be empty. */
  split(notes: readonly WalletNote[]): Funds<WalletNote>[] {
    const groups = new Map<string, WalletNote[]>();
    for (const note of notes) {
      const name = JSON.stringify([...this.#sortings].map(({ groupOf }) => groupOf(note)));
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [note]);
      else group.push(note);
    }
    if (groups.size === 0) return [fundsOf([])];
    const sorted = [...groups.values()].map(fundsOf).map((funds) => ({ funds, total: totalOf(funds) }));
    return sorted.sort((a, b) => (a.total < b.total ? 1 : -1)).map(({ funds }) => funds);
  }
}

/** The notes of a wallet, and how they are sorted. */
interface Sorted {
  readonly groups: NoteGroups;
  notes(): WalletNote[];
}

const totalOf = ({ spendable }: Funds<WalletNote>): bigint =>
  spendable.reduce((total, { amount }) => total + amount, 0n);

/**
 * Runs `select` on the notes of one group: the first for which it succeeds.
 * @throws the error of `select` that is true of one group or of all notes; WalletError NOTES_APART if only notes of several groups,
 *   or notes that `only` excludes, suffice
 */
export function selectApart<T>(
  wallet: Sorted,
  { mix = false, only }: MixOption & Pick<NoteChoice, "only">,
  select: (funds: Funds<WalletNote>) => T,
): T {
  const notes = wallet.notes().filter(({ state }) => state !== "spent");
  const allowed = only === undefined ? notes : notes.filter(only);
  const problems: WalletError[] = [];
  const groups = mix ? [fundsOf(allowed)] : wallet.groups.split(allowed);
  for (const group of groups) {
    try {
      return select(group);
    } catch (error) {
      if (!(error instanceof WalletError)) throw error;
      problems.push(error);
    }
  }
  const [first] = problems;
  if (problems.length === 1 && allowed.length === notes.length) throw first!;
  const soon = problems.find(({ code }) => code === "MERGE_REQUIRED") ?? problems.find(isWaiting);
  if (soon !== undefined) throw soon;
  const whole = problemOf(() => select(fundsOf(notes)));
  if (whole !== undefined && whole.code !== "MERGE_REQUIRED" && !isWaiting(whole)) throw whole;
  throw apart(first!, groups, allowed.length < notes.length);
}

/** Whether the funds suffice once notes that wait for the chain or for payments can be spent. */
const isWaiting = ({ code, details }: WalletError): boolean =>
  code === "FUNDS_NOT_READY" && details["waiting"] !== undefined;

function problemOf(select: () => unknown): WalletError | undefined {
  try {
    select();
    return undefined;
  } catch (error) {
    if (error instanceof WalletError) return error;
    throw error;
  }
}

function apart({ details }: WalletError, groups: readonly Funds<WalletNote>[], isExcluding: boolean): WalletError {
  const { needed } = details;
  const totals = groups.map((funds) => totalOf(funds) + funds.waiting);
  const [largest = 0n] = totals.sort((a, b) => (a < b ? 1 : -1));
  const what = needed === undefined ? "the notes" : `${String(needed)} base units are needed, and the notes`;
  const why = isExcluding
    ? "that may be spent here do not suffice; spend less, wait until more notes qualify, or allow all notes"
    : "suffice only together, but they are kept apart, because mixing them takes from some what can be shown of them; " +
      "spend less, wait until they belong together, or consent to mix them (mix)";
  return new WalletError("NOTES_APART", `${what} ${why}`, {
    ...(needed === undefined ? {} : { needed: String(needed) }),
    largest: String(largest),
  });
}
