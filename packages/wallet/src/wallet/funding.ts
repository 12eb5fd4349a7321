import { delay, unlessAborted } from "@sotto/chain";
import { LOCAL_CHAIN_IDS, parseAddress } from "@sotto/protocol";
import { hexlify, keccak256, randomBytes, toUtf8Bytes } from "ethers";
import { WalletError } from "../errors.ts";
import type { ScanResult } from "../scan/types.ts";
import { ServiceClientError } from "../service/errors.ts";
import type { SottoService } from "../service/service.ts";
import type { ScanOptions, WalletCore } from "./core.ts";
import { parseDepositAmounts } from "./deposit.ts";
import { FIRST_POLL_MS, type Follow, followOf, nextPause, type SubmitOptions, serviceOf } from "./follow.ts";
import { type AuthorizeOptions, signedDeposit } from "./fund.ts";
import {
  deleteFunding,
  type FundingRecord,
  findFunding,
  listFundings,
  listUnconfirmed,
  writeFunding,
} from "./funding-record.ts";
import type { WalletNote } from "./state.ts";
import { describeWaiting, waitingOf } from "./waiting.ts";

/**
 * The stage of a deposit. signing: the account is asked to authorize it. submitting: the wallet sends it to the
 * service. settling: the service has queued or sent its transaction. confirming: its block lacks confirmations.
 * appending: its notes wait for the append to the tree. spendable: finished.
 */
export type FundingStage = "signing" | "submitting" | "settling" | "confirming" | "appending" | "spendable";

/** A stage that a deposit has reached. */
export interface FundingProgress {
  /** The stage that begins. */
  stage: FundingStage;
  /** Id of the deposit, for `resumeDeposit`; undefined while it is being signed. */
  id: string | undefined;
  /** Hash of its transaction, once it is known. */
  transaction: string | undefined;
}

/** Options for resuming a deposit. */
export interface ResumeDepositOptions extends SubmitOptions<FundingProgress> {
  /**
   * `deposited`: return when the wallet sees the notes on chain. `spendable` (default): return when they can be spent.
   * A reorganization can remove notes that lack confirmations; the deposit is then unfinished again, and the next equal
   * call resumes it.
   */
  until?: "deposited" | "spendable" | undefined;
}

/** The amounts and the account of a deposit, and how it is submitted. */
export interface FundOptions extends ResumeDepositOptions, Omit<AuthorizeOptions, "amounts"> {
  /** Base units of one note. Give either `amount` or `amounts`. */
  amount?: bigint | undefined;
  /** Base units of each note, 1 to 64 notes. Parallel payments need one note each (`splitAmount`). */
  amounts?: readonly bigint[] | undefined;
  /** Names the deposit, 1 to 200 characters: at most one deposit is made for a key, ever. */
  key?: string | undefined;
}

/** A finished deposit. */
export interface Funded {
  /** Id of the deposit. */
  id: string;
  /** Hash of the transaction that deposited the notes. */
  transaction: string;
  /** Number of the transaction's block. */
  block: number;
  /** Base units of each note. */
  amounts: bigint[];
  /**
   * The account that paid the gas, according to the service; undefined if the deposit was on chain when it was resumed.
   */
  gasPaidBy: string | undefined;
}

/** A deposit that was signed and is not finished. */
export interface UnfinishedDeposit {
  /** For `resumeDeposit`. */
  id: string;
  /** The depositor, lower-case. */
  account: string;
  /** Base units of each note. */
  amounts: bigint[];
  /** Milliseconds. */
  created: number;
  /** Deadline, in seconds: it can be executed only before this time. */
  validBefore: number;
  /** Hash of its transaction, if the wallet saw it on chain at the last scan. */
  transaction: string | undefined;
}

type Outcome = NonNullable<FundingRecord["done"]>;

const MAX_KEY_LENGTH = 200;
/**
 * Seconds after its deadline from which an authorization on a local chain counts as expired without a block that shows
 * it, because such a chain may never mine one.
 */
const LOCAL_GRACE = 60;

/**
 * Asks the account for a signature, submits the deposit through the service and waits for its notes. The signed deposit
 * is stored before it leaves the process. The next equal call (account and amounts, or key) resumes an unfinished one.
 * @throws WalletError INVALID_OPTION, INSUFFICIENT_TOKENS, NOT_APPROVED, TOKEN_MISMATCH, DEPOSIT_REFUSED, CLOCK_WRONG,
 *   DEPOSIT_IN_PROGRESS,
 *   DEPOSIT_MISMATCH, TIMED_OUT; ServiceClientError; ChainError; the signal's reason
 */
export async function fund(core: WalletCore, options: FundOptions): Promise<Funded> {
  const { amount, amounts: several, account: signer, key, ...rest } = Object(options) as FundOptions;
  if ((amount === undefined) === (several === undefined))
    throw new WalletError("INVALID_OPTION", "give either amount or amounts, the base units of one or of several notes");
  const amounts = parseDepositAmounts(several ?? [amount], core.options.info);
  if (typeof signer?.signTypedData !== "function")
    throw new WalletError("INVALID_OPTION", "account must be an ethers signer that can sign typed data");
  const id = idOf(key);
  const follow = fundingFollowOf(core, rest);
  const account = parseAddress(await signer.getAddress(), "account");
  const terms = { account, amounts: amounts.map(String) };
  return core.fundings.claim(id, async (claim) => {
    await scanFundings(core, { signal: follow.signal });
    const known = await findEqual(core, id, terms, claim);
    const outcome = known && outcomeOf(core, known);
    if (known !== undefined && outcome !== undefined) return fundedOf(known, outcome);
    if (known !== undefined && isOpen(core, known)) return finish(core, known, follow);
    follow.report({ stage: "signing", id: undefined, transaction: undefined });
    const { sponsor, validFor } = rest;
    const asking = signedDeposit(core, { amounts, account: signer, sponsor, validFor });
    // A signature that comes after an abort is dropped: it never leaves the process.
    const { keyIndex, request } = await unlessAborted(asking, follow.signal);
    const created = core.options.clock();
    const fresh = { ...terms, id: id ?? hexlify(randomBytes(16)).slice(2), keyed: id !== undefined, keyIndex, created };
    const record: FundingRecord = { ...fresh, request, done: null };
    claim(record.id);
    await writeFunding(core.options.store, record);
    if (known !== undefined && known.id !== record.id) await forget(core, known);
    return finish(core, record, follow);
  });
}

/**
 * Resumes a deposit that was signed. Needs no account.
 * @throws WalletError UNKNOWN_DEPOSIT; DEPOSIT_EXPIRED if it was not executed in time and nothing was deposited; the
 *   other errors of `fund`
 */
export async function resumeDeposit(core: WalletCore, id: string, options: ResumeDepositOptions = {}): Promise<Funded> {
  const follow = fundingFollowOf(core, options);
  return core.fundings.claim(String(id), async () => {
    const record = await findFunding(core.options.store, String(id));
    if (record === undefined) throw new WalletError("UNKNOWN_DEPOSIT", `this wallet has no unfinished deposit ${id}`);
    await scanFundings(core, { signal: follow.signal });
    const outcome = outcomeOf(core, record);
    if (outcome !== undefined) return fundedOf(record, outcome);
    if (isOpen(core, record)) return finish(core, record, follow);
    await forget(core, record);
    throw new WalletError("DEPOSIT_EXPIRED", `the deposit ${id} was not executed in time, so nothing was deposited`, {
      id,
    });
  });
}

/** The unfinished deposits, oldest first, without those that can no longer be executed. */
export async function unfinishedDeposits(core: WalletCore): Promise<UnfinishedDeposit[]> {
  const records = await listFundings(core.options.store);
  return records.flatMap((record) => {
    if (outcomeOf(core, record) !== undefined || !isOpen(core, record)) return [];
    const notes = landed(core, record);
    const { id, account, amounts, created, request } = record;
    return {
      id,
      account,
      amounts: amounts.map(BigInt),
      created,
      validBefore: Number(request.validBefore),
      transaction: notes?.[0]?.transactionHash,
    };
  });
}

/** Scans, and removes the records of finished deposits whose notes are confirmed and in the tree now. */
export function scanFundings(core: WalletCore, options: ScanOptions): Promise<ScanResult> {
  return core.lock.run(async () => {
    const result = await core.scan(options);
    core.unconfirmedFundings ??= new Map((await listUnconfirmed(core.options.store)).map((each) => [each.id, each]));
    for (const record of core.unconfirmedFundings.values()) await finalize(core, record);
    return result;
  }, options.signal);
}

function idOf(key: unknown): string | undefined {
  if (key === undefined) return undefined;
  if (typeof key !== "string" || key === "" || key.length > MAX_KEY_LENGTH)
    throw new WalletError("INVALID_OPTION", `key must be a string of 1 to ${MAX_KEY_LENGTH} characters`);
  return keccak256(toUtf8Bytes(key)).slice(2, 34);
}

interface FundingFollow extends Follow<FundingProgress> {
  service: SottoService;
  until: "deposited" | "spendable";
}

/** @throws WalletError INVALID_OPTION; ServiceClientError SERVICE_NOT_ALLOWED, SERVICE_NOT_SECURE */
function fundingFollowOf(core: WalletCore, options: ResumeDepositOptions): FundingFollow {
  const { until = "spendable" } = options;
  if (until !== "deposited" && until !== "spendable")
    throw new WalletError("INVALID_OPTION", `until is ${String(until)}, expected deposited or spendable`);
  return { ...followOf(core, options), service: serviceOf(core, options.service, "deposit"), until };
}

/**
 * The stored deposit that a call resumes or replaces: the deposit with its key, or the oldest equal deposit that no
 * other call is working on. An expired deposit is chosen only if all others have expired too.
 * @throws WalletError DEPOSIT_MISMATCH
 */
async function findEqual(
  core: WalletCore,
  id: string | undefined,
  terms: Pick<FundingRecord, "account" | "amounts">,
  claim: (id: string) => boolean,
): Promise<FundingRecord | undefined> {
  const { store } = core.options;
  const isEqual = ({ account, amounts }: FundingRecord): boolean =>
    account === terms.account && String(amounts) === String(terms.amounts);
  if (id === undefined) {
    const unfinished = (each: FundingRecord) => !each.keyed && outcomeOf(core, each) === undefined;
    const equal = (await listFundings(store)).filter((each) => unfinished(each) && isEqual(each));
    // A process that ended while it replaced an expired deposit has left both; the newer one may still be executed.
    const preferred = [true, false].flatMap((open) => equal.filter((each) => isOpen(core, each) === open));
    return preferred.find((each) => claim(each.id));
  }
  const known = await findFunding(store, id);
  if (known !== undefined && !isEqual(known))
    throw new WalletError("DEPOSIT_MISMATCH", "the deposit with this key has another account or other amounts", { id });
  return known;
}

/** The notes of a deposit, if the chain has them. Its owner tag is used for nothing else. */
function landed(core: WalletCore, { keyIndex, amounts }: FundingRecord): WalletNote[] | undefined {
  const expected = [...amounts].sort().join();
  const byTransaction = new Map<string, WalletNote[]>();
  for (const note of core.notes())
    if (note.keyIndex === keyIndex && note.origin === "deposit")
      byTransaction.set(note.transactionHash, [...(byTransaction.get(note.transactionHash) ?? []), note]);
  return [...byTransaction.values()].find(
    (notes) =>
      notes
        .map((note) => String(note.amount))
        .sort()
        .join() === expected,
  );
}

/** The outcome of a finished deposit; undefined if it is not finished, or if a reorganization has removed its notes. */
function outcomeOf(core: WalletCore, record: FundingRecord): Outcome | undefined {
  const { done, final } = record;
  if (done === null || final) return done ?? undefined;
  const note = landed(core, record)?.[0];
  return note && { ...done, transaction: note.transactionHash, block: note.blockNumber };
}

/**
 * Deletes the record of a finished deposit if its notes are confirmed and in the tree, but keeps the record if it has a
 * key. The root then confirms the notes: a node can invent a deposit in a real block, but not a tree that has the
 * contract's root.
 * @returns false if they are not: the record is needed to resume the deposit if its notes are removed
 */
async function finalize(core: WalletCore, record: FundingRecord): Promise<boolean> {
  const { store } = core.options;
  const done = outcomeOf(core, record);
  const notes = landed(core, record);
  if (done === undefined || notes === undefined || notes.some(isWaiting)) return false;
  await (record.keyed ? writeFunding(store, { ...record, done, final: true }) : deleteFunding(store, record));
  core.unconfirmedFundings?.delete(record.id);
  return true;
}

async function forget(core: WalletCore, record: FundingRecord): Promise<void> {
  await deleteFunding(core.options.store, record);
  core.unconfirmedFundings?.delete(record.id);
}

/** Whether a note lacks confirmations, or is not in the tree. */
const isWaiting = ({ state }: WalletNote): boolean => state === "pending" || state === "queued";

/** Whether a deposit that is not on chain can no longer be executed. */
function isExpired(core: WalletCore, { request }: FundingRecord): boolean {
  const { info } = core.options;
  const validBefore = Number(request.validBefore);
  if ((core.sync.confirmed?.timestamp ?? 0) >= validBefore) return true;
  return LOCAL_CHAIN_IDS.includes(info.chainId) && core.pastTime() / 1000 >= validBefore + LOCAL_GRACE;
}

/** Whether a deposit is on chain or can still be executed. */
const isOpen = (core: WalletCore, record: FundingRecord): boolean =>
  landed(core, record) !== undefined || !isExpired(core, record);

const fundedOf = ({ id, amounts }: FundingRecord, done: Outcome): Funded => ({
  id,
  ...done,
  gasPaidBy: done.gasPaidBy,
  amounts: amounts.map(BigInt),
});

/** Submits a stored deposit, unless it is on chain, and waits for its notes. */
async function finish(core: WalletCore, record: FundingRecord, follow: FundingFollow): Promise<Funded> {
  const { service, signal, report, until } = follow;
  const { id, request } = record;
  let gasPaidBy: string | undefined;
  if (landed(core, record) === undefined) {
    report({ stage: "submitting", id, transaction: undefined });
    const onPending = ({ txSignature }: { txSignature: string }) =>
      report({ stage: "settling", id, transaction: txSignature === "0x" ? undefined : txSignature });
    try {
      ({ gasFeePaidBy: gasPaidBy } = await service.deposit(request, { signal, onPending }));
    } catch (error) {
      if (!(error instanceof ServiceClientError)) throw error;
      // Someone else may have submitted it, or the service may have done so before it failed.
      await core.lock.run(() => core.scan({ signal }), signal);
      if (landed(core, record) === undefined) throw error;
    }
  }
  const [note] = await waitForNotes(core, record, follow);
  const done = { transaction: note.transactionHash, block: note.blockNumber, gasPaidBy };
  const finished = { ...record, done };
  if (until === "spendable") report({ stage: "spendable", id, transaction: done.transaction });
  if (!(await finalize(core, finished))) {
    await writeFunding(core.options.store, finished);
    core.unconfirmedFundings?.set(id, finished);
  }
  return fundedOf(record, done);
}

/** Scans until the notes of a deposit are on chain or, if asked, spendable. @throws WalletError TIMED_OUT */
async function waitForNotes(
  core: WalletCore,
  record: FundingRecord,
  { until, timeoutMs, signal, report }: FundingFollow,
): Promise<[WalletNote, ...WalletNote[]]> {
  const { id } = record;
  const end = Date.now() + timeoutMs;
  let since: number | undefined;
  for (let pause = FIRST_POLL_MS; ; pause = nextPause(pause)) {
    await core.lock.run(() => core.scan({ signal }), signal);
    const notes = landed(core, record);
    const waiting = (notes ?? []).filter(isWaiting);
    if (notes !== undefined && (until === "deposited" || waiting.length === 0))
      return notes as [WalletNote, ...WalletNote[]];
    since ??= core.sync.height;
    const transaction = notes?.[0]?.transactionHash;
    const stage = notes === undefined || waiting.some(({ state }) => state === "pending") ? "confirming" : "appending";
    report({ stage, id, transaction });
    if (Date.now() + pause > end) throw timedOut(core, record, { since, transaction, timeoutMs });
    await delay(pause, signal);
  }
}

interface Waited {
  /** Number of the newest block when the wait began. */
  since: number;
  transaction: string | undefined;
  timeoutMs: number;
}

function timedOut(core: WalletCore, { id }: FundingRecord, { since, transaction, timeoutMs }: Waited): WalletError {
  if (transaction === undefined)
    return new WalletError("TIMED_OUT", "the service settled the deposit, but the node does not show it; call again", {
      id,
      cause: "NONE",
    });
  const waiting = waitingOf(core, since);
  const { cause } = waiting;
  const why = cause === "NONE" ? "" : `: ${describeWaiting(core, waiting)}`;
  return new WalletError("TIMED_OUT", `the deposit cannot be spent after ${timeoutMs / 1000} s${why}`, {
    id,
    transaction,
    cause,
  });
}
