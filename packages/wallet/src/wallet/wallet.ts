import type { Block, ChainSource } from "@sotto/chain";
import type { DepositRequest } from "@sotto/chain/ethers";
import {
  type CircuitName,
  deriveKeys,
  type Month,
  type SpendableNote,
  type Statement,
  type ViewingKeys,
  type WalletKeys,
} from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import type { Receipt } from "../receipts/receipt.ts";
import type { ScanResult } from "../scan/types.ts";
import { assertSeed } from "../seed.ts";
import type { SottoService } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import type { GroupOf } from "./apart.ts";
import {
  type CashedOut,
  type CashOutOptions,
  cashOut,
  type ResumeWithdrawalOptions,
  resumeWithdrawal,
  type UnfinishedWithdrawal,
  unfinishedWithdrawals,
} from "./cash-out.ts";
import { assertKeys, connectPool, finalityOf, type PoolInfo, type PoolOptions, parseCount } from "./connect.ts";
import { type LastingAddress, type ScanOptions, WalletCore, type WalletProver } from "./core.ts";
import { type AuthorizeOptions, type DepositCalls, type DepositOptions, depositCalls, signedDeposit } from "./fund.ts";
import {
  type Funded,
  type FundOptions,
  fund,
  type ResumeDepositOptions,
  resumeDeposit,
  scanFundings,
  type UnfinishedDeposit,
  unfinishedDeposits,
} from "./funding.ts";
import { claimStore } from "./identity.ts";
import { type PayOptions, payMerging } from "./merge-first.ts";
import { PAYMENT_CIRCUITS, type Payment, pay, payAgain } from "./pay.ts";
import { type PaymentEntry, type PaymentsOptions, paymentEntries } from "./payment-list.ts";
import type { PaymentRequest } from "./payment-request.ts";
import { type PrepareOptions, type PrepareRequest, prepare } from "./prepare.ts";
import type { PreparedTerms } from "./prepared.ts";
import { type ProveNoteOptions, proveNote } from "./prove-note.ts";
import { makeReceipt, type ReceiptOptions } from "./receipt.ts";
import type { SearchOptions } from "./search.ts";
import { isUnseen } from "./shown.ts";
import { type Balance, type PaymentStatus, statusOf, type WalletNote, type WalletSpend } from "./state.ts";
import { type ViewingKeysOptions, viewingKeysOf } from "./viewing-keys.ts";
import { exit, merge, type Withdrawal, withdraw, withdrawAgain } from "./withdraw.ts";
import type { ExitRequest, MergeRequest, WithdrawalRequest } from "./withdrawal-terms.ts";

export interface WalletOptions extends PoolOptions {
  /** 32 bytes, for example from `seedFromWords`. Never written to the store. */
  seed: Uint8Array;
  /** The wallet's own store, used by one process at a time. */
  store: Store;
  /** Default: none; the wallet can then receive and deposit, but not spend. */
  prover?: WalletProver | undefined;
  /** The service that submits the deposits of `fund`, or its base URL. */
  service?: SottoService | string | undefined;
  /** Whether anyone was ever given the lasting address. Default: "used". */
  lastingAddress?: LastingAddress | undefined;
  /** Called by `close`. */
  onClose?: (() => Promise<void>) | undefined;
  /** Maximum blocks per request to the node. Default: 10,000. */
  rangeSize?: number | undefined;
  /** Returns milliseconds since the Unix epoch. Default: Date.now. */
  clock?: (() => number) | undefined;
}

/**
 * A shielded wallet, which can be restored from its seed and the chain. It makes proofs and calls, but does not send
 * them: the caller, a service or anyone else submits them, so that nothing on chain points at the wallet's owner.
 */
export class Wallet {
  /** The pool whose notes it holds. */
  readonly pool: PoolInfo;
  readonly #core: WalletCore;
  readonly #onClose: (() => Promise<void>) | undefined;
  #closed: Promise<void> | undefined;

  private constructor(core: WalletCore, onClose: (() => Promise<void>) | undefined) {
    this.#core = core;
    this.#onClose = onClose;
    this.pool = core.options.info;
  }

  /**
   * Opens a wallet, after checking the node, the pool, the prover's keys and the store.
   * @throws ChainError NODE_UNREACHABLE, WRONG_CHAIN, POOL_NOT_DEPLOYED, POOL_MISMATCH; WalletError SET_MISMATCH,
   *   STORE_FOREIGN, INVALID_OPTION; SottoError INVALID_KEY, INVALID_ADDRESS, DEVELOPMENT_KEYS_REFUSED
   */
  static async open(options: WalletOptions): Promise<Wallet> {
    if (typeof options !== "object" || options === null)
      throw new WalletError("INVALID_OPTION", "a wallet needs its options: seed, chain, chainId, pool and so on");
    assertSeed(options.seed);
    const { store, prover, service, onClose, lastingAddress, clock = Date.now } = options;
    if (![undefined, "used", "unused"].includes(lastingAddress))
      throw new WalletError("INVALID_OPTION", 'lastingAddress must be "used" or "unused"');
    const rangeSize = options.rangeSize === undefined ? undefined : parseCount(options.rangeSize, "rangeSize", 1);
    if (typeof store !== "object" || store === null) throw new WalletError("INVALID_OPTION", "store is missing");
    const { chain, info } = await connectPool(options);
    const finality = finalityOf(options, info.chainId);
    if (prover !== undefined) assertKeys(prover.artifacts, options, info.chainId);
    const keys: WalletKeys = deriveKeys(options.seed, info);
    await claimStore(store, { ...info, owner: keys.shieldedAddress() });
    const open = { chain, info, keys, store, prover, finality, clock, rangeSize, service, lastingAddress };
    return new Wallet(await WalletCore.open(open), onClose);
  }

  /** The wallet's store. Code that extends the wallet may use it under its own key prefixes. */
  get store(): Store {
    return this.#core.options.store;
  }

  /** The chain it reads. */
  get chain(): ChainSource {
    return this.#core.options.chain;
  }

  /** Confirmations: blocks on top of an event before it counts. */
  get finality(): number {
    return this.#core.finality;
  }

  /** The newest block with the configured confirmations at the last scan; undefined before the first scan. */
  get confirmed(): Block | undefined {
    return this.#core.sync.confirmed;
  }

  /** Number of the newest block at the last scan. */
  get height(): number {
    return this.#core.height;
  }

  /** Current time of the wallet's clock, milliseconds since the Unix epoch. */
  now(): number {
    return this.#core.options.clock();
  }

  /**
   * Compares the clock with the chain's time now.
   * @throws WalletError CLOCK_WRONG; ChainError if no node answers; the signal's reason
   */
  assertClock(signal?: AbortSignal): Promise<void> {
    return this.#core.assertClock(signal);
  }

  /**
   * A time that has passed for certain, milliseconds since the Unix epoch: the chain's at the last scan, and at most the
   * clock's. For decisions that cannot be undone, because the clock may be ahead. 0 before the first scan.
   */
  pastTime(): number {
    return this.#core.pastTime();
  }

  /** The lasting address: the wallet is paid there at any time. Whoever gets its viewing key reads it forever. */
  get shieldedAddress(): string {
    return this.#core.options.keys.shieldedAddress();
  }

  /** The public address of a month, which is paid in that month only. @throws SottoError INVALID_MONTH */
  addressOfMonth(month: Month): string {
    return this.#core.options.keys.ofMonth(month).shieldedAddress;
  }

  /**
   * The keys of a `ViewingWallet`, which sees incoming payments but cannot spend. For a server or an auditor. A key cannot be
   * taken back: give those of months instead of the lasting one.
   * @throws WalletError INVALID_OPTION without any key; SottoError INVALID_MONTH
   */
  viewingKeys(options: ViewingKeysOptions): ViewingKeys {
    return viewingKeysOf(this.#core.options.keys, options);
  }

  /** Scans new blocks. Spending methods call it themselves. */
  scan(options: ScanOptions = {}): Promise<ScanResult> {
    return scanFundings(this.#core, options);
  }

  /**
   * Finds payments to a month's address in blocks of another time, which `scan` does not try because it would take many times as
   * long: such a payment was made by a program that does not know months. Run it while nobody waits; it continues where the last
   * one ended, and payments can be made meanwhile.
   * @returns how many payments it found; they are in the balance then
   */
  search(options: SearchOptions = {}): Promise<number> {
    return this.#core.search(options);
  }

  /** All notes as of the last scan, including spent ones. */
  notes(): WalletNote[] {
    return this.#core.notes();
  }

  /** All spends of the wallet's notes on chain as of the last scan. A payment has one, a withdrawal or merge one for each note. */
  spends(): WalletSpend[] {
    const { ledger, confirmed } = this.#core.sync;
    const final = confirmed?.number ?? -1;
    return [...ledger.spends.values()].map((spend) => ({ ...spend, confirmed: spend.blockNumber <= final }));
  }

  /** The commitment at a position of the pool's tree or queue, as of the last scan; undefined if there is none. */
  leafAt(leafIndex: number): bigint | undefined {
    return this.#core.sync.ledger.leaves[leafIndex];
  }

  /** Number of leaves in the pool's tree at a block; undefined if the last scan did not reach it. */
  treeSizeAt(block: number): number | undefined {
    const { ledger } = this.#core.sync;
    return block <= (ledger.last?.to ?? -1) ? (ledger.appendAt(block)?.size ?? 0) : undefined;
  }

  /**
   * Makes a proof about one of the wallet's notes, spent or not, for code that extends the wallet. The proof is checked to have
   * the statement's public signals.
   * @param prepare makes the statement. The note has its spending key: use it in the statement's private input only
   * @returns eight decimal words
   * @throws WalletError INVALID_OPTION if the wallet has no such note, or no prover, PROOF_MISMATCH, WALLET_CLOSED; the errors of
   *   `prepare` and of the prover; the signal's reason
   */
  proveNote<C extends CircuitName>(
    leafIndex: number,
    circuit: C,
    prepare: (note: SpendableNote) => Statement<C>,
    options: ProveNoteOptions = {},
  ): Promise<string[]> {
    return proveNote(this.#core, leafIndex, circuit, prepare, options);
  }

  /**
   * Keeps notes of different groups apart from now on: merges, withdrawals and exits spend notes of one group only, unless the
   * caller consents (`mix`). Payments spend one note anyway. For code that extends the wallet; the store does not remember it.
   * @returns ends it
   */
  keepApart(groupOf: GroupOf): () => void {
    return this.#core.groups.add(groupOf);
  }

  /**
   * Whether a payment or withdrawal that did not settle showed this note's nullifier to others, who would recognize the
   * note when it is spent. Only this store knows.
   */
  isShown(note: WalletNote): boolean {
    return note.state !== "spent" && !isUnseen(this.#core.journal, note);
  }

  /** Balance as of the last scan. Before the first scan after opening, everything is pending. */
  balance(): Balance {
    return this.#core.balance();
  }

  /** The calls of a deposit that the depositor's own account sends: `approve`, then `deposit`. */
  deposit(options: DepositOptions): Promise<DepositCalls> {
    return depositCalls(this.#core, options);
  }

  /** A deposit that the depositor signs (EIP-3009) and anyone may submit. The depositor needs no ETH. */
  async authorizeDeposit(options: AuthorizeOptions): Promise<DepositRequest> {
    return (await signedDeposit(this.#core, options)).request;
  }

  /**
   * Deposits tokens from an account that needs no ETH: asks the account for a signature, submits the deposit through
   * the service and waits until its notes can be spent. If a call was interrupted, the next equal call (account and
   * amounts, or key) resumes its deposit instead of making another one.
   * @throws WalletError INVALID_OPTION, INSUFFICIENT_TOKENS, NOT_APPROVED, TOKEN_MISMATCH, CLOCK_WRONG, DEPOSIT_IN_PROGRESS,
   *   DEPOSIT_MISMATCH, TIMED_OUT (call again); ServiceClientError; ChainError; the signal's reason
   */
  fund(options: FundOptions): Promise<Funded> {
    return fund(this.#core, options);
  }

  /** Deposits of `fund` that are signed but not finished, as of the last scan, oldest first. */
  unfinishedDeposits(): Promise<UnfinishedDeposit[]> {
    return unfinishedDeposits(this.#core);
  }

  /**
   * Resumes an unfinished deposit. The account is not asked again.
   * @throws WalletError UNKNOWN_DEPOSIT; DEPOSIT_EXPIRED if it was not executed in time and nothing was deposited; the
   *   other errors of `fund`
   */
  resumeDeposit(id: string, options: ResumeDepositOptions = {}): Promise<Funded> {
    return resumeDeposit(this.#core, id, options);
  }

  /**
   * Stops `fund`, `resumeDeposit` and running scans, and closes what `openWallet` opened. A store and a
   * prover that were passed to `Wallet.open` stay open.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#core.closing.abort(new WalletError("WALLET_CLOSED", "the wallet is closed; open it again"));
    this.#core.prepared.discardAll();
    await this.#core.lock.run(async () => this.#onClose?.());
  }

  /**
   * Prepares the prover for payments, so that the first one takes as long as later ones. Missing files of the circuits are
   * downloaded. Call it while nobody waits, such as while the user reads a price; it takes as long as a few proofs.
   * @throws WalletError INVALID_OPTION without a prover; the errors of reading artifacts
   */
  async warm(): Promise<void> {
    const prover = this.#core.prover();
    for (const circuit of PAYMENT_CIRCUITS) await prover.warm?.(circuit);
  }

  /**
   * Makes a payment and proves it. Send its bundle to a service, or its `settle` to the chain.
   * @throws WalletError INSUFFICIENT_FUNDS (details.missing), FUNDS_NOT_READY, MERGE_REQUIRED, NOTES_APART, CLOCK_WRONG,
   *   ADDRESS_ENDED
   */
  pay(request: PaymentRequest, { merge: auto, ...options }: PayOptions = {}): Promise<Payment> {
    return auto === undefined ? pay(this.#core, request, options) : payMerging(this.#core, request, auto, options);
  }

  /**
   * Prepares the parts of a payment that do not depend on its resource and time, while nobody waits for them. The next
   * `pay` with exactly these terms then takes a few milliseconds. The prepared payment stays in the prover's
   * memory. It is wiped after use, when it is outdated, and in any case within four minutes. A wallet has at most four.
   * @throws WalletError INVALID_OPTION if the prover cannot prepare, FUNDS_NOT_READY if no note is old enough,
   *   INSUFFICIENT_FUNDS, MERGE_REQUIRED, NOTES_APART; SottoError PREPARE_UNSUPPORTED; the signal's reason
   */
  prepare(request: PrepareRequest, options: PrepareOptions = {}): Promise<PreparedTerms> {
    return prepare(this.#core, request, options);
  }

  /** Makes another attempt at a payment from the same note, so it is never paid twice. @throws WalletError ADDRESS_ENDED */
  payAgain(id: string, options: ScanOptions = {}): Promise<Payment> {
    return payAgain(this.#core, id, options);
  }

  /**
   * Deletes a payment or withdrawal whose proof never left this process, and releases its notes. Do not call it if
   * anyone else has the proof, because it may still settle.
   * @throws WalletError UNKNOWN_PAYMENT
   */
  discard(id: string): Promise<void> {
    return this.#core.lock.run(() => this.#core.journal.discard(id));
  }

  /** Merges up to eight notes of a group into one. @throws WalletError NOTES_APART */
  merge(request: MergeRequest = {}, options: ScanOptions = {}): Promise<Withdrawal> {
    return merge(this.#core, request, options);
  }

  /** Withdraws tokens from the pool. @throws WalletError NOTES_APART */
  withdraw(request: WithdrawalRequest, options: ScanOptions = {}): Promise<Withdrawal> {
    return withdraw(this.#core, request, options);
  }

  /** Withdraws the eight largest notes of a group completely, even if the pool has no room for another note. */
  exit(request: ExitRequest, options: ScanOptions = {}): Promise<Withdrawal> {
    return exit(this.#core, request, options);
  }

  /**
   * Withdraws tokens through the service, and waits until the wallet sees the withdrawal on chain. If a call was
   * interrupted, the next call with the same recipient, amount and fee resumes its withdrawal instead of making another
   * one.
   * @throws WalletError INVALID_OPTION, INSUFFICIENT_FUNDS, FUNDS_NOT_READY, MERGE_REQUIRED, NOTES_APART, CLOCK_WRONG,
   *   WITHDRAWAL_IN_PROGRESS, TIMED_OUT (call again); ServiceClientError; ChainError; the signal's reason
   */
  cashOut(options: CashOutOptions): Promise<CashedOut> {
    return cashOut(this.#core, options);
  }

  /** Withdrawals of `cashOut` whose outcome no call has returned, as of the last scan, oldest first. */
  unfinishedWithdrawals(): UnfinishedWithdrawal[] {
    return unfinishedWithdrawals(this.#core);
  }

  /**
   * Resumes a withdrawal or merge: submits its proof again, or another attempt with the same notes if the proof is
   * outdated.
   * @throws WalletError UNKNOWN_PAYMENT; PAYMENT_CLOSED if its notes were spent otherwise; the other errors of
   *   `cashOut`
   */
  resumeWithdrawal(id: string, options: ResumeWithdrawalOptions = {}): Promise<CashedOut> {
    return resumeWithdrawal(this.#core, id, options);
  }

  /** Makes another attempt at a withdrawal or merge, with the same notes and terms. */
  withdrawAgain(id: string, options: ScanOptions = {}): Promise<Withdrawal> {
    return withdrawAgain(this.#core, id, options);
  }

  /**
   * A secret of code that extends the wallet, such as a way to pay. The same label gives the same secret, also after the
   * wallet was restored from its words. Nobody can compute another secret of the wallet from it.
   * @param label the extension's name, alone or followed by "/" and any text, such as "vouchers/0xabcd/0"
   * @param bytes length of the secret, 16 to 64; a shorter secret of the same label begins with the same bytes
   * @throws SottoError INVALID_STRING, INVALID_INTEGER; LABEL_RESERVED for the label of one of the wallet's own keys;
   *   WalletError WALLET_CLOSED
   */
  async derive(label: string, bytes: number): Promise<Uint8Array> {
    // What runs in the background, such as claims of change, ends here.
    this.#core.closing.signal.throwIfAborted();
    return this.#core.options.keys.derive(label, bytes);
  }

  /** Status of a payment, withdrawal or merge as of the last scan. @throws WalletError UNKNOWN_PAYMENT */
  status(id: string): PaymentStatus {
    return statusOf(this.#core.journal.get(id), this.#core.view);
  }

  /** Whether this store has a payment, withdrawal or merge with this id. */
  has(id: string): boolean {
    return this.#core.journal.spends.has(id);
  }

  /** All payments, withdrawals and merges in this store, oldest first. */
  history(): PaymentStatus[] {
    const records = [...this.#core.journal.spends.values()].sort((a, b) => a.created - b.created);
    return records.map((record) => statusOf(record, this.#core.view));
  }

  /**
   * Makes a receipt of a settled payment that proves who paid. docs/protocol.md says what it proves and reveals.
   * @throws WalletError UNKNOWN_PAYMENT; ReceiptError RECEIPT_IMPOSSIBLE, RECEIPT_SHOWS_DEPOSIT, RECEIPT_MALFORMED
   */
  receipt(id: string, options: ReceiptOptions = {}): Promise<Receipt> {
    return makeReceipt(this.#core, id, options);
  }

  /** Outgoing and incoming payments as of the last scan, oldest first. `paymentsCsv` formats them. */
  payments(options: PaymentsOptions): Promise<PaymentEntry[]> {
    return paymentEntries(this.#core, options);
  }

  /**
   * The newest proof of a payment, to send it again after a crash. Undefined if the proof is not made yet, or was
   * deleted an hour after its deadline.
   */
  proofOf(id: string) {
    return this.#core.journal.get(id).proof ?? undefined;
  }
}
