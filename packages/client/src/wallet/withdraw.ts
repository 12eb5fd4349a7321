import { expectAmount, type PreparedWithdrawal, parseAddress, prepareWithdrawal } from "@sotto/protocol";
import { hexlify, randomBytes, ZeroAddress } from "ethers";
import type { WithdrawalCall } from "../chain/calls.ts";
import { WalletError } from "../errors.ts";
import type { FoundNote } from "../scan/notes.ts";
import { expectCount } from "./connect.ts";
import type { ScanOptions, WalletCore } from "./core.ts";
import type { WithdrawalRecord } from "./journal.ts";
import { reusableNotes } from "./reuse.ts";
import { type Funds, selectMergeCoins, selectWithdrawalCoins } from "./select.ts";
import type { WalletNote } from "./state.ts";

/** What whoever submits a withdrawal or a merge is paid for it, out of the notes. */
export interface Fee {
  /** Base units. */
  amount: bigint;
  recipient: string;
}

export interface WithdrawalRequest {
  /** Who receives the tokens. */
  recipient: string;
  /** Base units the recipient receives; the fee comes on top. */
  amount: bigint;
  fee?: Fee;
  /** Seconds it may be executed in, 60 to 86,400; 600 if left out. */
  validFor?: number;
}

export interface MergeRequest {
  /** Base units the merged note should hold at least; left out: any. */
  target?: bigint;
  fee?: Fee;
  validFor?: number;
}

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

interface Terms {
  recipient: string;
  /** What leaves the pool: the recipient's part and the fee. */
  amount: bigint;
  fee: bigint;
  feeRecipient: string;
  validFor: number;
}

const CLOCK_LEAD = 30;

/** @param amount base units for the recipient @throws SottoError INVALID_AMOUNT, INVALID_ADDRESS; WalletError INVALID_OPTION */
function checkTerms(core: WalletCore, recipient: string, amount: bigint, { fee, validFor = 600 }: MergeRequest): Terms {
  const feeAmount = expectAmount(fee?.amount ?? 0n, "fee.amount");
  const feeRecipient = fee === undefined ? ZeroAddress : parseAddress(fee.recipient, "fee.recipient");
  const total = expectAmount(expectAmount(amount) + feeAmount, "amount and fee together");
  expectCount(validFor, "validFor", 60, 86_400);
  if (amount > 0n) checkReceiver(core, recipient, "recipient");
  if (feeAmount > 0n) checkReceiver(core, feeRecipient, "fee.recipient");
  return { recipient, amount: total, fee: feeAmount, feeRecipient, validFor };
}

/** The pool sends nothing to nobody, nor to itself, where it would be lost. */
function checkReceiver(core: WalletCore, address: string, name: string): void {
  if (BigInt(address) === 0n || address === core.options.info.pool)
    throw new WalletError("INVALID_OPTION", `${name} is ${address}: tokens cannot go to the zero address or the pool`);
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
  return start(core, terms, (funds) => selectWithdrawalCoins(funds, terms.amount), options);
}

/** Joins up to eight notes into one. Nothing but the fee leaves the pool, nothing is sent. */
export async function merge(
  core: WalletCore,
  request: MergeRequest = {},
  options: ScanOptions = {},
): Promise<Withdrawal> {
  const { target, ...rest } = Object(request) as MergeRequest;
  const terms = checkTerms(core, ZeroAddress, 0n, rest);
  const least = target === undefined ? undefined : expectAmount(target, "target");
  return start(core, terms, (funds) => selectMergeCoins(funds, terms.fee, least), options);
}

/**
 * Another attempt of a withdrawal with the same notes and terms and a later date: at most one of all can be executed.
 * @throws WalletError PAYMENT_SETTLED, PAYMENT_CLOSED, UNKNOWN_PAYMENT
 */
export async function withdrawAgain(core: WalletCore, id: string, options: ScanOptions = {}): Promise<Withdrawal> {
  const known = core.journal.get(id);
  if (known.kind !== "withdrawal") throw new WalletError("UNKNOWN_PAYMENT", `${id} is a payment, not a withdrawal`);
  core.prover();
  const { recipient, feeRecipient } = known;
  const terms = { recipient, feeRecipient, amount: BigInt(known.amount), fee: BigInt(known.fee), validFor: 600 };
  const begun = await core.lock.run(async () => {
    await core.scan(options);
    return begin(core, known, reusableNotes(core, known), terms);
  });
  return finish(core, begun, options.signal);
}

async function start(
  core: WalletCore,
  terms: Terms,
  select: (funds: Funds<WalletNote>) => WalletNote[],
  options: ScanOptions,
): Promise<Withdrawal> {
  core.prover();
  const begun = await core.lock.run(async () => {
    await core.scan(options);
    const notes = select(core.funds());
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
  // The pad of the output's amount comes from the first nullifier and the terms: no date is used twice with it.
  const last = await core.journal.lastValidity(known.nullifiers[0]!);
  const validUntil = Math.max(Math.floor(core.now(CLOCK_LEAD) / 1000) + terms.validFor, last + 1);
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
