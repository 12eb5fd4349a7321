import type { WithdrawalCall } from "@sotto/protocol";
import { assertAmount, parseAddress, prepareWithdrawal, type WithdrawalInputs } from "@sotto/protocol";
import { hexlify, randomBytes, ZeroAddress } from "ethers";
import { WalletError } from "../errors.ts";
import type { FoundNote } from "../scan/notes.ts";
import { type NoteChoice, selectApart } from "./apart.ts";
import type { ScanOptions, WalletCore } from "./core.ts";
import { totalOf } from "./deposit.ts";
import type { Attempt, WithdrawalRecord } from "./journal.ts";
import { reusableNotes } from "./reuse.ts";
import { type Funds, selectExitNotes, selectMergeNotes, selectWithdrawalNotes } from "./select.ts";
import { preferUnseen } from "./shown.ts";
import { isEarly, type WalletNote } from "./state.ts";
import {
  type Deadlines,
  deadlineOf,
  type ExitRequest,
  type MergeRequest,
  parseWithdrawalTerms,
  type WithdrawalRequest,
  type WithdrawalTerms,
} from "./withdrawal-terms.ts";

const CIRCUIT = "withdrawal";
/** Maximum seconds by which the clock may be behind the chain. */
const MAX_LAG = 30;

/** A proved withdrawal or merge that anyone may submit. */
export interface Withdrawal {
  /** Id of the withdrawal, 32 hex digits. */
  id: string;
  /** The argument of the contract's `withdraw`; `withdrawCall` encodes it. */
  withdraw: WithdrawalCall;
  /** Last second in which it can be executed. */
  validUntil: number;
  /** Leaf indices of the spent notes. */
  notes: number[];
  /** Base units of the change note. */
  output: bigint;
  /** keccak256 of the public signals. */
  digest: string;
}

export interface StartOptions extends ScanOptions, Pick<NoteChoice, "only"> {
  /** Called with the record of a new withdrawal; returns the record to write. */
  onBegin?: (record: WithdrawalRecord) => WithdrawalRecord;
}

/** Withdraws tokens from up to eight notes; the rest becomes one change note. Nothing is sent. */
export async function withdraw(
  core: WalletCore,
  request: WithdrawalRequest,
  options: StartOptions = {},
): Promise<Withdrawal> {
  const { recipient, amount, mix, ...rest } = Object(request) as WithdrawalRequest;
  const terms = parseWithdrawalTerms(core, parseAddress(recipient, "recipient"), amount, rest);
  if (amount === 0n)
    throw new WalletError("INVALID_OPTION", "amount is 0, expected at least 1 base unit; to merge notes, use merge");
  const select = (funds: Funds<WalletNote>) => selectWithdrawalNotes(funds, terms.amount);
  // The receiving account is public, so a note with a shown nullifier would link it to the earlier recipient.
  const choose = (only: NoteChoice["only"]) => selectApart(core, { mix, only }, select);
  return start(core, terms, () => preferUnseen(core.journal, options.only, choose), options);
}

/**
 * Withdraws the eight largest notes of a group completely. It makes no change note, so it works even if the pool's tree or queue
 * is full; the chain shows that nothing was left. Repeat it until the wallet is empty. Nothing is sent.
 */
export async function exit(core: WalletCore, request: ExitRequest, options: StartOptions = {}): Promise<Withdrawal> {
  const { recipient, mix, ...rest } = Object(request) as ExitRequest;
  // The amount is known only after the notes are selected; 1 is a placeholder for the recipient's check.
  const terms = { ...parseWithdrawalTerms(core, parseAddress(recipient, "recipient"), 1n, rest), leaveNothing: true };
  const select = (funds: Funds<WalletNote>) => selectExitNotes(funds, terms.fee);
  return start(core, terms, () => selectApart(core, { mix, only: options.only }, select), options);
}

/** Merges up to eight notes into one. Only the fee leaves the pool. Nothing is sent. */
export async function merge(
  core: WalletCore,
  request: MergeRequest = {},
  options: StartOptions = {},
): Promise<Withdrawal> {
  const { target, mix, ...rest } = Object(request) as MergeRequest;
  const terms = parseWithdrawalTerms(core, ZeroAddress, 0n, rest);
  const least = target === undefined ? undefined : assertAmount(target, "target");
  const select = (funds: Funds<WalletNote>) => selectMergeNotes(funds, terms.fee, least);
  return start(core, terms, () => selectApart(core, { mix, only: options.only }, select), options);
}

/**
 * Replaces a note that was shown to others with a new one whose nullifier nobody knows. Only the fee leaves the pool.
 * Nothing is sent.
 * @throws WalletError FUNDS_NOT_READY
 */
export async function renew(
  core: WalletCore,
  leafIndex: number,
  request: Pick<MergeRequest, "fee">,
  options: ScanOptions = {},
): Promise<Withdrawal> {
  // Short, because the note is held until then if the merge is never executed.
  const terms = parseWithdrawalTerms(core, ZeroAddress, 0n, { ...request, validFor: 60 });
  const select = ({ spendable }: Funds<WalletNote>) => {
    const note = spendable.find((each) => each.leafIndex === leafIndex);
    if (note === undefined) throw new WalletError("FUNDS_NOT_READY", `note ${leafIndex} is not spendable now`);
    return [note];
  };
  return start(core, terms, () => selectApart(core, { mix: true }, select), options);
}

/**
 * Makes another attempt at a withdrawal with the same notes and terms and a later deadline. At most one attempt can be
 * executed.
 * @throws WalletError PAYMENT_SETTLED, PAYMENT_CLOSED, UNKNOWN_PAYMENT
 */
export async function withdrawAgain(core: WalletCore, id: string, options: ScanOptions = {}): Promise<Withdrawal> {
  const known = core.journal.get(id);
  if (known.kind !== "withdrawal") throw new WalletError("UNKNOWN_PAYMENT", `${id} is a payment, not a withdrawal`);
  core.loadProver([CIRCUIT]);
  const { recipient, feeRecipient, leaveNothing } = known;
  const [amount, fee] = [BigInt(known.amount), BigInt(known.fee)];
  const terms = { recipient, feeRecipient, amount, fee, validFor: 600, leaveNothing };
  const begun = await core.lock.run(async () => {
    await core.scan(options);
    return begin(core, known, reusableNotes(core, known), terms);
  }, options.signal);
  return finish(core, begun, options.signal);
}

async function start(
  core: WalletCore,
  asked: WithdrawalTerms,
  select: () => WalletNote[],
  { onBegin = (record) => record, ...options }: StartOptions,
): Promise<Withdrawal> {
  core.loadProver([CIRCUIT]);
  const begun = await core.lock.run(async () => {
    await core.scan(options);
    const notes = select();
    const terms = asked.leaveNothing ? { ...asked, amount: totalOf(notes.map(({ amount }) => amount)) } : asked;
    const record: WithdrawalRecord = {
      kind: "withdrawal",
      id: hexlify(randomBytes(16)).slice(2),
      created: core.now(MAX_LAG),
      notes: notes.map(({ leafIndex }) => leafIndex),
      nullifiers: notes.map(({ nullifier }) => String(nullifier)),
      attempts: [],
      recipient: terms.recipient,
      amount: String(terms.amount),
      fee: String(terms.fee),
      feeRecipient: terms.feeRecipient,
      leaveNothing: terms.leaveNothing,
      proof: null,
    };
    return begin(core, onBegin(record), notes, terms);
  }, options.signal);
  return finish(core, begun, options.signal);
}

interface Begun {
  record: WithdrawalRecord;
  inputs: WithdrawalInputs;
  validUntil: number;
}

async function begin(
  core: WalletCore,
  known: WithdrawalRecord,
  notes: FoundNote[],
  terms: WithdrawalTerms,
): Promise<Begun> {
  const { keys, info } = core.options;
  const timestamp = core.now(MAX_LAG);
  const validUntil = deadlineOf(timestamp, terms.validFor, deadlinesOf(core, known));
  const inputs = prepareWithdrawal({
    chainId: info.chainId,
    pool: info.pool,
    tree: core.confirmedTree(),
    notes: notes.map((note) => core.spendable(note)),
    amount: terms.amount,
    recipient: terms.recipient,
    fee: terms.fee,
    feeRecipient: terms.feeRecipient,
    validUntil: BigInt(validUntil),
    changeKey: core.changeKeyAt(timestamp),
    outputTag: keys.ownerTag(0),
    leaveNothing: terms.leaveNothing,
  });
  const attempt = { validUntil, digest: inputs.digest, timestamp };
  const record: WithdrawalRecord = { ...known, attempts: [...known.attempts, attempt], proof: null };
  await core.journal.begin(record);
  return { record, inputs, validUntil };
}

/**
 * The deadlines of all attempts, and of those made with a clock that was not ahead. A later attempt only has to
 * outlast the latter.
 */
function deadlinesOf(core: WalletCore, record: WithdrawalRecord): Deadlines {
  const { attempts } = record;
  const timely = attempts.filter((attempt) => !isEarly(record, attempt, core.view));
  const seconds = (list: readonly Attempt[]) => list.map(({ validUntil }) => validUntil);
  return { all: seconds(attempts), timely: seconds(timely) };
}

async function finish(
  core: WalletCore,
  { record, inputs, validUntil }: Begun,
  signal?: AbortSignal,
): Promise<Withdrawal> {
  const { recipient, fee, feeRecipient, id, notes } = record;
  const proof = await core.prove(CIRCUIT, inputs, signal);
  const signals = inputs.signals.map(String);
  const call: WithdrawalCall = { proof, signals, recipient, fee, feeRecipient, validUntil: String(validUntil) };
  await core.journal.prove(record, inputs.digest, { withdraw: call });
  return { id, withdraw: call, validUntil, notes, output: inputs.outputNote.amount, digest: inputs.digest };
}
