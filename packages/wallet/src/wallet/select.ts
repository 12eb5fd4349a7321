import { assertAmount, WITHDRAWAL_INPUTS } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import { parseCount } from "./connect.ts";
import { DEPOSIT_NOTES } from "./deposit.ts";

/** The part of a note that the selection uses. */
interface Note {
  leafIndex: number;
  amount: bigint;
}

export interface Funds<N extends Note> {
  /** Notes that are spendable now. */
  spendable: readonly N[];
  /** Base units in notes that are not spendable yet: unconfirmed, queued, or held by payments in flight. */
  waiting: bigint;
}

const sum = (notes: readonly Note[]): bigint => notes.reduce((total, { amount }) => total + amount, 0n);
const ascending = <N extends Note>(notes: readonly N[]): N[] =>
  [...notes].sort((a, b) => (a.amount === b.amount ? a.leafIndex - b.leafIndex : a.amount < b.amount ? -1 : 1));

/**
 * Selects the note for a payment: the smallest sufficient one, so that large notes remain for large payments.
 * @param preferences kinds of notes that are selected before all others, the most wanted first
 * @throws WalletError INSUFFICIENT_FUNDS, FUNDS_NOT_READY, or MERGE_REQUIRED if only several notes together suffice
 */
export function selectPaymentNote<N extends Note>(
  funds: Funds<N>,
  amount: bigint,
  ...preferences: readonly ((note: N) => boolean)[]
): N {
  const enough = ascending(funds.spendable).filter((note) => note.amount >= amount);
  const found =
    preferences.map((isPreferred) => enough.find(isPreferred)).find((note) => note !== undefined) ?? enough[0];
  if (found !== undefined) return found;
  assertFunds(funds, amount);
  const largest = ascending(funds.spendable).at(-1)!;
  throw new WalletError(
    "MERGE_REQUIRED",
    `a payment spends one note, and the largest has ${largest.amount} base units, but ${amount} base units are needed; ` +
      "merge notes first",
    { needed: String(amount), largest: String(largest.amount) },
  );
}

/**
 * Selects up to eight notes that together suffice, small ones first, which also reduces the number of notes.
 * @throws WalletError INSUFFICIENT_FUNDS, FUNDS_NOT_READY, or MERGE_REQUIRED if eight do not suffice
 */
export function selectWithdrawalNotes<N extends Note>(funds: Funds<N>, amount: bigint): N[] {
  const window = firstWindow(funds.spendable, amount);
  if (window !== undefined) return window;
  assertFunds(funds, amount);
  const most = sum(ascending(funds.spendable).slice(-WITHDRAWAL_INPUTS));
  throw new WalletError(
    "MERGE_REQUIRED",
    `a withdrawal spends at most ${WITHDRAWAL_INPUTS} notes, and the largest have ${most} base units, but ${amount} base ` +
      "units are needed; merge notes first",
    { needed: String(amount), largest: String(most) },
  );
}

/**
 * Selects the notes to merge into one. With a `target` for the merged note: the smallest eight that reach it, or else
 * the largest eight, so that the next merge gets closer. Without one, the smallest eight.
 * @param fee taken from the merged note
 * @throws WalletError INSUFFICIENT_FUNDS, FUNDS_NOT_READY
 */
export function selectMergeNotes<N extends Note>(funds: Funds<N>, fee: bigint, target?: bigint): N[] {
  const notes = ascending(funds.spendable);
  const needed = fee + (target ?? 1n);
  assertFunds(funds, needed);
  if (notes.length < 2)
    throw new WalletError("FUNDS_NOT_READY", `a merge needs at least two notes, but ${notes.length} are spendable now`);
  const chosen = firstWindow(notes, needed) ?? notes.slice(-WITHDRAWAL_INPUTS);
  // If the fee would consume the smallest notes completely, the large ones pay it.
  return sum(chosen) > fee ? chosen : notes.slice(-WITHDRAWAL_INPUTS);
}

/**
 * Selects the largest eight notes (or all, if fewer), to be withdrawn completely.
 * @param fee taken from them; they must be worth more than the fee
 * @throws WalletError INSUFFICIENT_FUNDS, FUNDS_NOT_READY
 */
export function selectExitNotes<N extends Note>(funds: Funds<N>, fee: bigint): N[] {
  assertFunds(funds, fee + 1n);
  return ascending(funds.spendable).slice(-WITHDRAWAL_INPUTS);
}

/** The first eight (or all, if fewer) in ascending order that suffice. */
function firstWindow<N extends Note>(spendable: readonly N[], amount: bigint): N[] | undefined {
  const notes = ascending(spendable);
  for (let start = 0; start === 0 || start + WITHDRAWAL_INPUTS <= notes.length; start += 1) {
    const window = notes.slice(start, start + WITHDRAWAL_INPUTS);
    if (sum(window) >= amount && window.length > 0) return window;
  }
  return undefined;
}

function assertFunds(funds: Funds<Note>, amount: bigint): void {
  const spendable = sum(funds.spendable);
  if (spendable >= amount && funds.spendable.length > 0) return;
  const total = spendable + funds.waiting;
  if (total < amount || amount === 0n)
    throw new WalletError(
      "INSUFFICIENT_FUNDS",
      `${amount} base units are needed, but the wallet holds ${total} base units; deposit ${amount - total} base units more`,
      { needed: String(amount), available: String(total), missing: String(amount - total) },
    );
  throw new WalletError(
    "FUNDS_NOT_READY",
    `${amount} base units are needed, but only ${spendable} base units can be spent now; ${funds.waiting} base units are ` +
      "unconfirmed, queued for the tree or held by payments",
    { needed: String(amount), spendable: String(spendable), waiting: String(funds.waiting) },
  );
}

/**
 * Splits `total` into `notes` nearly equal parts (the first ones may be one unit larger), to deposit notes for parallel
 * payments.
 * @param notes 1 to 64, at most `total`
 */
export function splitAmount(total: bigint, notes: number): bigint[] {
  assertAmount(total, "total");
  parseCount(notes, "notes", 1, DEPOSIT_NOTES);
  const count = BigInt(notes);
  if (total < count) throw new WalletError("INVALID_OPTION", `${total} base units cannot be split into ${notes} notes`);
  const [part, rest] = [total / count, total % count];
  return Array.from({ length: notes }, (_, i) => (BigInt(i) < rest ? part + 1n : part));
}
