import type { WithdrawalCall } from "@sotto/protocol";
import { assertAmount, type PreparedWithdrawal, parseAddress, prepareWithdrawal } from "@sotto/protocol";
import { hexlify, randomBytes, ZeroAddress } from "ethers";
import { WalletError } from "../errors.ts";
import type { FoundNote } from "../scan/notes.ts";
import type { ScanOptions, WalletCore } from "./core.ts";
import { totalOf } from "./deposit.ts";
import { lastDate, type WithdrawalRecord } from "./journal.ts";
import { reusableNotes } from "./reuse.ts";
import { type Funds, selectExitCoins, selectMergeCoins, selectWithdrawalCoins } from "./select.ts";
import { preferUnseen } from "./shown.ts";
import type { WalletNote } from "./state.ts";
import {
  checkTerms,
  dateOf,
  type ExitRequest,
  type MergeRequest,
  type Terms,
  type WithdrawalRequest,
} from "./withdrawal-terms.ts";

const CLOCK_LEAD = 30;

/** A withdrawal or a merge ready to be submitted by anyone. */
export interface Withdrawal {
  id: string;
  /** For `withdrawCall`. */
  withdraw: WithdrawalCall;
  /** Last second in which it may be executed. */
  validUntil: number;
  /** Leaf indices of the notes it spends. */
  notes: number[];
  /** Base units in the note that comes back. */
  output: bigint;
  digest: string;
}

/** Takes tokens out of up to eight notes; what they hold beyond it comes back as one note. Nothing is sent. */
export async function withdraw(
  core: WalletCore,
  request: WithdrawalRequest,
  options: ScanOptions = {},
): Promise<Withdrawal> {
  const { recipient, amount, ...rest } = Object(request) as WithdrawalRequest;
  const terms = checkTerms(core, parseAddress(recipient, "recipient"), amount, rest);
  if (amount === 0n) throw new WalletError("INVALID_OPTION", "amount is 0: to join notes, use merge");
  const select = (funds: Funds<WalletNote>) => selectWithdrawalCoins(funds, terms.amount);
  // The receiving account is public, so a note with a shown nullifier would link it to the earlier recipient.
  return start(core, terms, (funds) => preferUnseen(core.journal, funds, select), options);
}

/**
 * Takes the eight largest notes out whole. It leaves no note, so it works where the pool's tree or queue has no room; the
 * chain sees that nothing was left. Again until the wallet is empty. Nothing is sent.
 */
export async function exit(core: WalletCore, request: ExitRequest, options: ScanOptions = {}): Promise<Withdrawal> {
  const { recipient, ...rest } = Object(request) as ExitRequest;
  // The amount is known only after the notes are selected; 1 is a placeholder for the recipient's check.
  const terms = { ...checkTerms(core, parseAddress(recipient, "recipient"), 1n, rest), leaveNothing: true };
  return start(core, terms, (funds) => selectExitCoins(funds, terms.fee), options);
}

/** Joins up to eight notes into one. Nothing but the fee leaves the pool, nothing is sent. */
export async function merge(
  core: WalletCore,
  request: MergeRequest = {},
  options: ScanOptions = {},
): Promise<Withdrawal> {
  const { target, ...rest } = Object(request) as MergeRequest;
  const terms = checkTerms(core, ZeroAddress, 0n, rest);
  const least = target === undefined ? undefined : assertAmount(target, "target");
  return start(core, terms, (funds) => selectMergeCoins(funds, terms.fee, least), options);
}

/**
 * Makes a new note of one that was shown to others: nobody knows the nullifier of the new one. Nothing but the fee leaves
 * the pool, nothing is sent.
 * @throws WalletError FUNDS_NOT_READY
 */
export async function renew(
  core: WalletCore,
  leafIndex: number,
  request: Pick<MergeRequest, "fee">,
  options: ScanOptions = {},
): Promise<Withdrawal> {
  // Short, because the note is held that long if the merge is never executed.
  const terms = checkTerms(core, ZeroAddress, 0n, { ...request, validFor: 60 });
  const select = ({ spendable }: Funds<WalletNote>) => {
    const note = spendable.find((each) => each.leafIndex === leafIndex);
    if (note === undefined) throw new WalletError("FUNDS_NOT_READY", `note ${leafIndex} cannot be spent now`);
    return [note];
  };
  return start(core, terms, select, options);
}

/**
 * Another attempt of a withdrawal with the same notes and terms and a later date: at most one of all can be executed.
 * @throws WalletError PAYMENT_SETTLED, PAYMENT_CLOSED, UNKNOWN_PAYMENT
 */
export async function withdrawAgain(core: WalletCore, id: string, options: ScanOptions = {}): Promise<Withdrawal> {
  const known = core.journal.get(id);
  if (known.kind !== "withdrawal") throw new WalletError("UNKNOWN_PAYMENT", `${id} is a payment, not a withdrawal`);
  core.prover();
  const { recipient, feeRecipient, leaveNothing } = known;
  const [amount, fee] = [BigInt(known.amount), BigInt(known.fee)];
  const terms = { recipient, feeRecipient, amount, fee, validFor: 600, leaveNothing };
  const begun = await core.lock.run(async () => {
    await core.scan(options);
    return begin(core, known, reusableNotes(core, known), terms);
  });
  return finish(core, begun, options.signal);
}

async function start(
  core: WalletCore,
  asked: Terms,
  select: (funds: Funds<WalletNote>) => WalletNote[],
  options: ScanOptions,
): Promise<Withdrawal> {
  core.prover();
  const begun = await core.lock.run(async () => {
    await core.scan(options);
    const notes = select(core.funds());
    const terms = asked.leaveNothing ? { ...asked, amount: totalOf(notes.map(({ amount }) => amount)) } : asked;
    const record: WithdrawalRecord = {
      kind: "withdrawal",
      id: hexlify(randomBytes(16)).slice(2),
      created: core.now(CLOCK_LEAD),
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
    return begin(core, record, notes, terms);
  });
  return finish(core, begun, options.signal);
}

interface Begun {
  record: WithdrawalRecord;
  prepared: PreparedWithdrawal;
  validUntil: number;
}

async function begin(core: WalletCore, known: WithdrawalRecord, notes: FoundNote[], terms: Terms): Promise<Begun> {
  const { keys, info } = core.options;
  const validUntil = dateOf(core.now(CLOCK_LEAD), terms.validFor, lastDate(known));
  const prepared = prepareWithdrawal({
    chainId: info.chainId,
    pool: info.pool,
    tree: core.confirmedTree(),
    notes: notes.map((note) => core.spendable(note)),
    amount: terms.amount,
    recipient: terms.recipient,
    fee: terms.fee,
    feeRecipient: terms.feeRecipient,
    validUntil: BigInt(validUntil),
    changeKey: keys.changeKey,
    outputTag: keys.ownerTag(0),
    leaveNothing: terms.leaveNothing,
  });
  const attempt = { validUntil, digest: prepared.digest };
  const record: WithdrawalRecord = { ...known, attempts: [...known.attempts, attempt], proof: null };
  await core.journal.begin(record);
  return { record, prepared, validUntil };
}

async function finish(
  core: WalletCore,
  { record, prepared, validUntil }: Begun,
  signal?: AbortSignal,
): Promise<Withdrawal> {
  const { recipient, fee, feeRecipient, id, notes } = record;
  const proof = await core.prove("withdrawal", prepared, signal);
  const signals = prepared.publicSignals.map(String);
  const call: WithdrawalCall = { proof, signals, recipient, fee, feeRecipient, validUntil: String(validUntil) };
  await core.journal.prove(record, prepared.digest, { withdraw: call });
  return { id, withdraw: call, validUntil, notes, output: prepared.outputNote.amount, digest: prepared.digest };
}
