import type { Block } from "@sotto/chain";
import { MAX_CLOCK_SKEW_MS } from "@sotto/protocol";
import type { Ledger } from "../scan/ledger.ts";
import type { FoundNote, FoundSpend } from "../scan/notes.ts";
import { type Attempt, type Journal, type JournalRecord, lastDeadline } from "./journal.ts";
import type { Funds } from "./select.ts";

/**
 * pending: its block lacks confirmations. queued: it waits for the append to the tree. held: a payment in flight may
 * spend it. spendable. spending: an unconfirmed block spends it. spent.
 */
export type NoteState = "pending" | "queued" | "held" | "spendable" | "spending" | "spent";

/** A note of the wallet and its state. */
export interface WalletNote extends FoundNote {
  /** Its state at the last scan. */
  state: NoteState;
}

/** A spend of one of the wallet's notes, as of the last scan. */
export interface WalletSpend extends FoundSpend {
  /** Whether its block has the configured confirmations. */
  confirmed: boolean;
}

/** Token base units. `total` is spendable + held + queued + pending. */
export interface Balance {
  /** Notes that can be spent now. */
  spendable: bigint;
  /** Notes that a payment in flight may spend. */
  held: bigint;
  /** Notes that wait for their append to the tree. */
  queued: bigint;
  /** Notes whose block lacks confirmations. */
  pending: bigint;
  /** Sum of the others. */
  total: bigint;
}

/** The inputs of a note's state: the scanned chain, the journal and the newest confirmed block. */
export interface View {
  ledger: Ledger;
  journal: Journal | undefined;
  confirmed: Block | undefined;
  /** Milliseconds: the clock's time, or the chain's if that is later. */
  now: number;
}

export function walletNotes(view: View): WalletNote[] {
  const { ledger, confirmed } = view;
  const final = confirmed?.number ?? -1;
  const size = ledger.appendAt(final)?.size ?? 0;
  const stateOf = (note: FoundNote): NoteState => {
    const spend = ledger.spends.get(note.leafIndex);
    if (spend !== undefined) return spend.blockNumber <= final ? "spent" : "spending";
    if (note.blockNumber > final) return "pending";
    if (note.leafIndex >= size) return "queued";
    return holderOf(note, view) === undefined ? "spendable" : "held";
  };
  return [...ledger.notes.values()].map((note) => ({ ...note, state: stateOf(note) }));
}

/** The operation that holds this note, because it may still spend it. */
export function holderOf({ nullifier }: FoundNote, view: View): JournalRecord | undefined {
  const holding = spendsOf(view, nullifier).filter((record) => isOpen(record, view) && !isReleased(record, view));
  return holding.sort((a, b) => lastDeadline(a) - lastDeadline(b)).at(-1);
}

const isOpen = (record: JournalRecord, view: View): boolean => statusOf(record, view).state === "open";
const spendsOf = ({ journal }: View, nullifier: bigint | undefined): JournalRecord[] =>
  journal?.spendsOf(String(nullifier)) ?? [];

/**
 * Whether an attempt was made with a clock that was ahead: its time has not come yet, so services refuse its proof. The
 * pool would accept that proof until its deadline, which may be days away.
 */
export function isEarly({ created }: JournalRecord, { timestamp = created }: Attempt, { now }: View): boolean {
  return timestamp > now + MAX_CLOCK_SKEW_MS;
}

/**
 * Whether an open spend has released its notes: all of its attempts that could still settle are early. Spending a note
 * again loses nothing, because the pool accepts only one of the spends; and it ends the early attempts for good.
 */
function isReleased(record: JournalRecord, view: View): boolean {
  const alive = record.attempts.filter(({ validUntil }) => (view.confirmed?.timestamp ?? 0) <= validUntil);
  return alive.every((attempt) => isEarly(record, attempt, view));
}

/**
 * Whether someone who has the proof of an early attempt could still settle it with this note. Payments use such a note
 * first: once it is spent, a payment that was dismissed cannot settle beside its repetition.
 */
export function isExposed({ nullifier }: FoundNote, view: View): boolean {
  return spendsOf(view, nullifier).some(
    (record) => record.attempts.some(({ proved }) => proved) && isOpen(record, view) && isReleased(record, view),
  );
}

/** The notes that can be selected for a payment, and the amount of those that cannot be yet. */
export function fundsOf(notes: readonly WalletNote[]): Funds<WalletNote> {
  const waiting = notes.filter(({ state }) => state === "pending" || state === "queued" || state === "held");
  return {
    spendable: notes.filter(({ state }) => state === "spendable"),
    waiting: waiting.reduce((total, { amount }) => total + amount, 0n),
  };
}

export function balanceOf(notes: readonly WalletNote[]): Balance {
  const sum = (state: NoteState): bigint =>
    notes.reduce((total, note) => (note.state === state ? total + note.amount : total), 0n);
  const parts = { spendable: sum("spendable"), held: sum("held"), queued: sum("queued"), pending: sum("pending") };
  return { ...parts, total: parts.spendable + parts.held + parts.queued + parts.pending };
}

/**
 * open: it may still settle. settled: the chain has exactly this payment. failed: another payment spent its note.
 * expired: it did not settle and never can; its note is released.
 */
export type PaymentState = "open" | "settled" | "failed" | "expired";

/** A payment or withdrawal of this wallet, and its state. */
export interface PaymentStatus {
  /** Id of the payment or withdrawal. */
  id: string;
  kind: "payment" | "withdrawal";
  /** Its state at the last scan. */
  state: PaymentState;
  /** Base units of the payment, or of the withdrawal including its fee. */
  amount: bigint;
  /** When it was started, milliseconds. */
  created: number;
  /** Last second in which an attempt of it can settle. */
  validUntil: number;
  /** Whether only a reorganization deeper than `finality` can change the state. */
  final: boolean;
  /**
   * Whether it released its notes although it is open: its proof is dated in the future, because the clock was ahead.
   * It can settle until another operation spends the notes; payments use them first.
   */
  released?: true;
  /**
   * The transaction that spent its (first) note, and the digest of its signals, which identifies the settled attempt.
   */
  transactionHash?: string;
  /** keccak256 of the public signals of the settled attempt. */
  digest?: string;
  /** Number of the block that settled it. */
  blockNumber?: number;
  /** Time of that block, seconds. */
  timestamp?: number;
}

/** Status of a spend, found by nullifier and digest, never by its proof bytes, which anyone can change. */
export function statusOf(record: JournalRecord, view: View): PaymentStatus {
  const { ledger, confirmed } = view;
  const { id, kind, notes, nullifiers, attempts, created } = record;
  const validUntil = lastDeadline(record);
  const told = { id, kind, amount: BigInt(record.amount), created, validUntil };
  const spend = notes
    .map((leafIndex, i) => ({ spend: ledger.spends.get(leafIndex), nullifier: nullifiers[i] }))
    .find(({ spend, nullifier }) => spend !== undefined && String(spend.nullifier) === nullifier)?.spend;
  if (spend !== undefined) {
    const { digest, blockNumber, timestamp, transactionHash } = spend;
    const state = attempts.some((attempt) => attempt.digest === digest) ? "settled" : "failed";
    const final = confirmed !== undefined && blockNumber <= confirmed.number;
    return { ...told, state, final, transactionHash, digest, blockNumber, timestamp };
  }
  // A confirmed block is later than validUntil and the note is unspent in it, so no attempt can settle any more.
  const over = confirmed !== undefined && confirmed.timestamp > validUntil;
  if (over) return { ...told, state: "expired", final: true };
  return { ...told, state: "open", final: false, ...(isReleased(record, view) ? { released: true } : {}) };
}
