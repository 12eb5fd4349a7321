import { delay } from "@sotto/chain";
import { parseAddress, type WithdrawalCall } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import { ServiceClientError } from "../service/errors.ts";
import type { WalletCore } from "./core.ts";
import { FIRST_POLL_MS, type Follow, followOf, nextPause, type SubmitOptions, serviceOf } from "./follow.ts";
import { lastDeadline, type WithdrawalRecord } from "./journal.ts";
import { isEarly, statusOf } from "./state.ts";
import { exit, type Withdrawal, withdraw, withdrawAgain } from "./withdraw.ts";
import { type ExitRequest, parseWithdrawalTerms, type WithdrawalTerms } from "./withdrawal-terms.ts";

/**
 * The stage of a withdrawal. proving: the wallet makes its proof. submitting: the wallet sends it to the service.
 * settling: the service has queued or sent its transaction. confirming: the node does not show the transaction yet.
 * withdrawn: finished.
 */
export type CashOutStage = "proving" | "submitting" | "settling" | "confirming" | "withdrawn";

/** A stage that a withdrawal has reached. */
export interface CashOutProgress {
  /** The stage that begins. */
  stage: CashOutStage;
  /** Id of the withdrawal, for `resumeWithdrawal`; undefined while it is first being proved. */
  id: string | undefined;
  /** Hash of its transaction, once it is known. */
  transaction: string | undefined;
  /** Whether an earlier call began it. */
  resumed: boolean;
}

/** Submits a withdrawal. @returns the account that pays the gas */
export type SubmitWithdrawal = (call: WithdrawalCall) => Promise<{ gasPaidBy: string }>;

/** Options for resuming a withdrawal. */
export interface ResumeWithdrawalOptions extends SubmitOptions<CashOutProgress> {
  /** Submits the withdrawal in place of the service. */
  submit?: SubmitWithdrawal | undefined;
}

/** The amount and recipient of a withdrawal, and how it is submitted. */
export interface CashOutOptions extends ResumeWithdrawalOptions, ExitRequest {
  /** Base units that the recipient receives, without the fee. Give either `amount` or `all`. */
  amount?: bigint | undefined;
  /** Withdraws the eight largest notes completely. Works even if the pool has no room for another note. */
  all?: boolean | undefined;
}

/** A finished withdrawal. */
export interface CashedOut {
  /** Id of the withdrawal. */
  id: string;
  /** The account that received the tokens. */
  recipient: string;
  /** Base units that it received. */
  amount: bigint;
  /** Hash of the transaction that executed it. */
  transaction: string;
  /** Number of the transaction's block. */
  block: number;
  /**
   * The account that paid the gas, according to the submitter; undefined if the withdrawal was on chain when it was
   * resumed.
   */
  gasPaidBy: string | undefined;
  /** Whether an earlier call began it, so that this call withdrew nothing more. */
  resumed: boolean;
}

/** A withdrawal begun by `cashOut` whose outcome no call has returned, or that a reorganization has removed. */
export interface UnfinishedWithdrawal {
  /** For `resumeWithdrawal`. */
  id: string;
  /** Address that receives the tokens. */
  recipient: string;
  /** Base units that the recipient receives. */
  amount: bigint;
  /** Milliseconds. */
  created: number;
  /** Last second in which one of its attempts can be executed. */
  validUntil: number;
  /** Hash of its transaction, if the wallet saw it on chain at the last scan. */
  transaction: string | undefined;
  /** Whether its proof was made, so that the service may have it. */
  proved: boolean;
  /** Whether a call in this process is working on it. */
  inProgress: boolean;
}

/** A service's reasons after which another attempt can succeed although the stored one cannot. */
const OUTDATED = ["EXPIRED", "UNKNOWN_ROOT"];

/**
 * Withdraws tokens through the service, and waits until the wallet sees the withdrawal on chain. If a call was
 * interrupted, the next call with the same recipient, amount and fee resumes its withdrawal. All attempts spend the
 * same notes, so at most one is executed.
 * @throws WalletError INVALID_OPTION, INSUFFICIENT_FUNDS, FUNDS_NOT_READY, MERGE_REQUIRED, NOTES_APART, CLOCK_WRONG,
 *   WITHDRAWAL_IN_PROGRESS, TIMED_OUT; ServiceClientError; ChainError; the signal's reason
 */
export async function cashOut(core: WalletCore, options: CashOutOptions): Promise<CashedOut> {
  const { recipient: to, amount, all = false, fee, validFor, mix, ...rest } = Object(options) as CashOutOptions;
  if ((amount === undefined) !== all)
    throw new WalletError("INVALID_OPTION", "give either amount, the base units that the recipient receives, or all");
  if (amount === 0n) throw new WalletError("INVALID_OPTION", "amount is 0, expected at least 1 base unit");
  const recipient = parseAddress(to, "recipient");
  const request = { recipient, mix, ...(fee && { fee }), ...(validFor !== undefined && { validFor }) };
  const terms = { ...parseWithdrawalTerms(core, recipient, amount ?? 1n, request), leaveNothing: all };
  const cashing = cashingOf(core, rest);
  core.prover();
  return core.withdrawals.claim(keyOf(terms), async (claim) => {
    const { signal, report } = cashing;
    await core.lock.run(() => core.scan({ signal }), signal);
    const known = findEqual(core, terms);
    if (known !== undefined) return core.withdrawals.claim(known.id, () => finish(core, known.id, undefined, cashing));
    report({ stage: "proving", id: undefined, transaction: undefined, resumed: false });
    const made = await prove(core, { ...request, amount }, claim, signal);
    return finish(core, made.id, made.withdraw, cashing);
  });
}

/**
 * Begins a withdrawal and proves it. If that fails, its notes are released at once: without a proof it cannot be
 * executed.
 */
async function prove(
  core: WalletCore,
  { amount, ...request }: ExitRequest & Pick<CashOutOptions, "amount">,
  claim: (id: string) => boolean,
  signal: AbortSignal,
): Promise<Withdrawal> {
  let begun: string | undefined;
  const onBegin = (record: WithdrawalRecord) => {
    begun = record.id;
    claim(begun);
    return { ...record, returned: false };
  };
  try {
    const options = { signal, onBegin };
    return await (amount === undefined
      ? exit(core, request, options)
      : withdraw(core, { ...request, amount }, options));
  } catch (error) {
    const isProved = core.journal.spends.get(begun ?? "")?.attempts.some(({ proved }) => proved) ?? true;
    if (begun !== undefined && !isProved)
      // If the store fails too, the notes are released at the deadline.
      await core.lock.run(() => core.journal.discard(begun!)).catch(() => undefined);
    throw error;
  }
}

/**
 * Resumes a withdrawal or merge, or retries one that expired.
 * @throws WalletError UNKNOWN_PAYMENT; PAYMENT_CLOSED if its notes were spent otherwise; the other errors of `cashOut`
 */
export async function resumeWithdrawal(
  core: WalletCore,
  id: string,
  options: ResumeWithdrawalOptions = {},
): Promise<CashedOut> {
  recordOf(core, id);
  const cashing = cashingOf(core, Object(options) as ResumeWithdrawalOptions);
  return core.withdrawals.claim(id, async () => {
    await core.lock.run(() => core.scan({ signal: cashing.signal }), cashing.signal);
    return finish(core, id, undefined, cashing);
  });
}

/** The unfinished withdrawals of `cashOut` as of the last scan, oldest first. */
export function unfinishedWithdrawals(core: WalletCore): UnfinishedWithdrawal[] {
  return unfinished(core).map((record) => {
    const { id, recipient, created, attempts } = record;
    return {
      id,
      recipient,
      amount: receivedOf(record),
      created,
      validUntil: lastDeadline(record),
      transaction: statusOf(record, core.view).transactionHash,
      proved: attempts.some(({ proved }) => proved),
      inProgress: core.withdrawals.has(id),
    };
  });
}

function unfinished(core: WalletCore): WithdrawalRecord[] {
  const records = [...core.journal.spends.values()].filter((record) => record.kind === "withdrawal");
  return records
    .filter((record) => {
      const { state } = statusOf(record, core.view);
      return (record.returned !== undefined && state === "open") || (record.returned === false && state === "settled");
    })
    .sort((a, b) => a.created - b.created);
}

/** With `leaveNothing`, the amount follows from the notes that are selected. */
function keyOf({ recipient, amount, fee, feeRecipient, leaveNothing }: Omit<WithdrawalTerms, "validFor">): string {
  return [recipient, leaveNothing ? "all" : amount, fee, feeRecipient].join(" ");
}

function findEqual(core: WalletCore, terms: WithdrawalTerms): WithdrawalRecord | undefined {
  const key = keyOf(terms);
  return unfinished(core).find(
    (record) => keyOf({ ...record, amount: BigInt(record.amount), fee: BigInt(record.fee) }) === key,
  );
}

/** @throws WalletError UNKNOWN_PAYMENT */
function recordOf(core: WalletCore, id: string): WithdrawalRecord {
  const record = core.journal.get(id);
  if (record.kind !== "withdrawal") throw new WalletError("UNKNOWN_PAYMENT", `${id} is a payment, not a withdrawal`);
  return record;
}

const receivedOf = ({ amount, fee }: WithdrawalRecord): bigint => BigInt(amount) - BigInt(fee);

interface Cashing extends Follow<CashOutProgress> {
  submit: (id: string, call: WithdrawalCall, resumed: boolean) => Promise<{ gasPaidBy: string }>;
}

/** @throws WalletError INVALID_OPTION; ServiceClientError SERVICE_NOT_ALLOWED, SERVICE_NOT_SECURE */
function cashingOf(core: WalletCore, options: ResumeWithdrawalOptions): Cashing {
  const follow = followOf(core, options);
  const { signal, report } = follow;
  const { submit } = options;
  if (submit !== undefined) return { ...follow, submit: (_, call) => submit(call) };
  const service = serviceOf(core, options.service, "withdrawal");
  return {
    ...follow,
    async submit(id, call, resumed) {
      const onPending = ({ txSignature }: { txSignature: string }) =>
        report({ stage: "settling", id, transaction: txSignature === "0x" ? undefined : txSignature, resumed });
      return { gasPaidBy: (await service.withdraw(call, { signal, onPending })).gasFeePaidBy };
    },
  };
}

/**
 * Submits a withdrawal, unless it is on chain, and waits for it.
 * @param fresh the proof that this call made; undefined if an earlier call began the withdrawal
 */
async function finish(
  core: WalletCore,
  id: string,
  fresh: WithdrawalCall | undefined,
  cashing: Cashing,
): Promise<CashedOut> {
  const { signal, report } = cashing;
  const resumed = fresh === undefined;
  const statusNow = () => statusOf(recordOf(core, id), core.view);
  let gasPaidBy: string | undefined;
  if (statusNow().state !== "settled") {
    try {
      ({ gasPaidBy } = await submitOnce(core, id, fresh, cashing));
    } catch (error) {
      const settled = error instanceof WalletError && error.code === "PAYMENT_SETTLED";
      if (!settled && !(error instanceof ServiceClientError)) throw error;
      // Someone else may have submitted it, or the service may have done so before it failed.
      await core.lock.run(() => core.scan({ signal }), signal);
      if (statusNow().state !== "settled") throw error;
    }
  }
  const { transaction, block } = await waitForWithdrawal(core, id, resumed, cashing);
  await core.lock.run(() => core.journal.returned(id));
  report({ stage: "withdrawn", id, transaction, resumed });
  const record = recordOf(core, id);
  return { id, recipient: record.recipient, amount: receivedOf(record), transaction, block, gasPaidBy, resumed };
}

/**
 * Submits the newest proof, or another attempt with the same notes if there is none or the service cannot execute it.
 */
async function submitOnce(core: WalletCore, id: string, fresh: WithdrawalCall | undefined, cashing: Cashing) {
  const { signal, report, submit } = cashing;
  const resumed = fresh === undefined;
  const send = (call: WithdrawalCall) => {
    report({ stage: "submitting", id, transaction: undefined, resumed });
    return submit(id, call, resumed);
  };
  const call = fresh ?? storedCall(core, id);
  if (call !== undefined) {
    try {
      return await send(call);
    } catch (error) {
      if (!resumed || !isOutdated(error)) throw error;
    }
  }
  report({ stage: "proving", id, transaction: undefined, resumed });
  return send((await withdrawAgain(core, id, { signal })).withdraw);
}

/** The newest proof, if it can still be executed and was not made with a clock that was ahead. */
function storedCall(core: WalletCore, id: string): WithdrawalCall | undefined {
  const record = recordOf(core, id);
  const newest = record.attempts.at(-1);
  if (newest === undefined || isEarly(record, newest, core.view)) return undefined;
  return newest.validUntil * 1000 > core.options.clock() ? record.proof?.withdraw : undefined;
}

const isOutdated = (error: unknown): boolean =>
  error instanceof ServiceClientError &&
  (error.code === "NOT_SETTLED" ||
    (error.code === "SERVICE_REFUSED" && OUTDATED.includes(String(error.details["reason"]))));

/** Scans until the chain shows a withdrawal. @throws WalletError TIMED_OUT, PAYMENT_CLOSED */
async function waitForWithdrawal(
  core: WalletCore,
  id: string,
  resumed: boolean,
  { timeoutMs, signal, report }: Cashing,
): Promise<{ transaction: string; block: number }> {
  const end = Date.now() + timeoutMs;
  for (let pause = FIRST_POLL_MS; ; pause = nextPause(pause)) {
    await core.lock.run(() => core.scan({ signal }), signal);
    const { state, transactionHash, blockNumber } = statusOf(recordOf(core, id), core.view);
    if (state === "settled") return { transaction: transactionHash!, block: blockNumber! };
    if (state !== "open")
      throw new WalletError("PAYMENT_CLOSED", `the withdrawal ${id} was not executed: its state is ${state}`, { id });
    report({ stage: "confirming", id, transaction: undefined, resumed });
    if (Date.now() + pause > end)
      throw new WalletError("TIMED_OUT", "the withdrawal was submitted, but the node does not show it; call again", {
        id,
      });
    await delay(pause, signal);
  }
}
