import type { ChainSource } from "@sotto/chain";
import type { DepositRequest } from "@sotto/chain/ethers";
import { deriveKeys, type WalletKeys } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import { makeReceipt, type ReceiptOptions } from "../receipts/make.ts";
import { type PaymentEntry, type PaymentsOptions, paymentEntries } from "../receipts/payments.ts";
import type { Receipt } from "../receipts/receipt.ts";
import type { ScanResult } from "../scan/types.ts";
import { checkSeed } from "../seed.ts";
import type { Store } from "../store/store.ts";
import { checkKeys, connectPool, expectCount, finalityOf, type PoolInfo, type PoolOptions } from "./connect.ts";
import { type ScanOptions, WalletCore, type WalletProver } from "./core.ts";
import {
  type AuthorizeOptions,
  authorizeDeposit,
  type DepositCalls,
  type DepositOptions,
  depositCalls,
} from "./fund.ts";
import { claimStore } from "./identity.ts";
import { type PayOptions, payMerging } from "./merge-first.ts";
import { type Payment, pay, payAgain } from "./pay.ts";
import type { PaymentRequest } from "./payment-request.ts";
import { isUnseen } from "./shown.ts";
import { type Balance, balanceOf, type PaymentStatus, statusOf, type WalletNote } from "./state.ts";
import { exit, merge, type Withdrawal, withdraw, withdrawAgain } from "./withdraw.ts";
import type { ExitRequest, MergeRequest, WithdrawalRequest } from "./withdrawal-terms.ts";

export interface WalletOptions extends PoolOptions {
  /** 32 bytes, e.g. of `seedFromWords`. It is not written to the store. */
  seed: Uint8Array;
  /** Used by this wallet alone, and by one process at a time. */
  store: Store;
  /** Left out: the wallet can receive and deposit, not spend. */
  prover?: WalletProver;
  /** Most blocks asked of the node at once; 10,000 if left out. */
  rangeSize?: number;
  /** Milliseconds since the Unix epoch; Date.now if left out. */
  clock?: () => number;
}

/**
 * A shielded wallet: everything in it follows from its seed and the chain. It makes proofs and calls; sending them is up
 * to the caller, a service or anyone, because nothing the chain sees may point at the wallet's owner.
 */
export class Wallet {
  readonly pool: PoolInfo;
  readonly #core: WalletCore;

  private constructor(core: WalletCore) {
    this.#core = core;
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
    checkSeed(options.seed);
    const { store, prover, clock = Date.now } = options;
    const rangeSize = options.rangeSize === undefined ? undefined : expectCount(options.rangeSize, "rangeSize", 1);
    if (typeof store !== "object" || store === null) throw new WalletError("INVALID_OPTION", "store is missing");
    const { chain, info } = await connectPool(options);
    const finality = finalityOf(options, info.chainId);
    if (prover !== undefined) checkKeys(prover.artifacts, options, info.chainId);
    const keys: WalletKeys = deriveKeys(options.seed, info);
    await claimStore(store, { ...info, owner: keys.shieldedAddress() });
    return new Wallet(await WalletCore.open({ chain, info, keys, store, prover, finality, clock, rangeSize }));
  }

  /** Where its state is. Those who build on the wallet keep theirs beside it, under prefixes of their own. */
  get store(): Store {
    return this.#core.options.store;
  }

  /** The chain it reads. */
  get chain(): ChainSource {
    return this.#core.options.chain;
  }

  /** Blocks on top of an event before it counts. */
  get finality(): number {
    return this.#core.options.finality;
  }

  /** Number of the newest block at the last scan. */
  get height(): number {
    return this.#core.sync.height;
  }

  /** Its clock, milliseconds since the Unix epoch. */
  now(): number {
    return this.#core.options.clock();
  }

  /** Where it can be paid: public. */
  get shieldedAddress(): string {
    return this.#core.options.keys.shieldedAddress();
  }

  /** What a `ViewingWallet` is opened with: shows all that came in, can spend nothing. For a server, or an auditor. */
  exportViewingKey(): { viewingKey: bigint; shieldedAddress: string } {
    return { viewingKey: this.#core.options.keys.viewingKey, shieldedAddress: this.shieldedAddress };
  }

  /** Reads what is new on the chain. Spending does it by itself. */
  scan(options: ScanOptions = {}): Promise<ScanResult> {
    return this.#core.lock.run(() => this.#core.scan(options));
  }

  /** All notes found, spent ones too, as of the last scan. */
  notes(): WalletNote[] {
    return this.#core.notes();
  }

  /**
   * Whether the nullifier of this note was shown to others by a payment or withdrawal that did not settle: they recognize the
   * note when it is spent. Known to this store alone.
   */
  isShown(note: WalletNote): boolean {
    return note.state !== "spent" && !isUnseen(this.#core.journal, note);
  }

  /** As of the last scan; before the first one after opening, everything is pending. */
  balance(): Balance {
    return balanceOf(this.#core.notes());
  }

  /** A deposit to be sent by the depositor's own account: `approve`, then `deposit`. */
  deposit(options: DepositOptions): Promise<DepositCalls> {
    return depositCalls(this.#core, options);
  }

  /** A deposit that anyone may submit (EIP-3009): the depositor signs and needs no ETH. */
  authorizeDeposit(options: AuthorizeOptions): Promise<DepositRequest> {
    return authorizeDeposit(this.#core, options);
  }

  /**
   * Makes a payment and proves it. Send its bundle to a service, or its `settle` to the chain.
   * @throws WalletError INSUFFICIENT_FUNDS (details.missing), FUNDS_NOT_READY, MERGE_REQUIRED, CLOCK_BEHIND
   */
  pay(request: PaymentRequest, { merge: auto, ...options }: PayOptions = {}): Promise<Payment> {
    return auto === undefined ? pay(this.#core, request, options) : payMerging(this.#core, request, auto, options);
  }

  /** Another attempt of a payment, from the same note: never paid twice. */
  payAgain(id: string, options: ScanOptions = {}): Promise<Payment> {
    return payAgain(this.#core, id, options);
  }

  /**
   * Forgets a payment whose proof nobody else has seen: its note can be spent again at once. If anybody has the proof, the
   * payment may still settle, so its note must stay held.
   * @throws WalletError UNKNOWN_PAYMENT
   */
  discard(id: string): Promise<void> {
    return this.#core.lock.run(() => this.#core.journal.discard(id));
  }

  /** Joins up to eight notes into one. */
  merge(request: MergeRequest = {}, options: ScanOptions = {}): Promise<Withdrawal> {
    return merge(this.#core, request, options);
  }

  /** Takes tokens out of the pool. */
  withdraw(request: WithdrawalRequest, options: ScanOptions = {}): Promise<Withdrawal> {
    return withdraw(this.#core, request, options);
  }

  /** Takes the eight largest notes out whole, even where the pool has no room for another note. */
  exit(request: ExitRequest, options: ScanOptions = {}): Promise<Withdrawal> {
    return exit(this.#core, request, options);
  }

  /** Another attempt of a withdrawal or merge, with the same notes and terms. */
  withdrawAgain(id: string, options: ScanOptions = {}): Promise<Withdrawal> {
    return withdrawAgain(this.#core, id, options);
  }

  /** What became of a payment, withdrawal or merge, as of the last scan. @throws WalletError UNKNOWN_PAYMENT */
  status(id: string): PaymentStatus {
    return statusOf(this.#core.journal.get(id), this.#core.view);
  }

  /** Whether this store knows a payment, withdrawal or merge of this id. */
  has(id: string): boolean {
    return this.#core.journal.spends.has(id);
  }

  /** All payments, withdrawals and merges this store knows, oldest first. */
  history(): PaymentStatus[] {
    const records = [...this.#core.journal.spends.values()].sort((a, b) => a.created - b.created);
    return records.map((record) => statusOf(record, this.#core.view));
  }

  /**
   * A receipt of a settled payment, to show who paid it: docs/protocol.md says what it proves and what it shows.
   * @throws WalletError UNKNOWN_PAYMENT; ReceiptError RECEIPT_IMPOSSIBLE, RECEIPT_SHOWS_DEPOSIT, RECEIPT_MALFORMED
   */
  receipt(id: string, options: ReceiptOptions = {}): Promise<Receipt> {
    return makeReceipt(this.#core, id, options);
  }

  /** What was paid and received, as of the last scan, oldest first: for `paymentsCsv`, or as it is. */
  payments(options: PaymentsOptions): Promise<PaymentEntry[]> {
    return paymentEntries(this.#core, options);
  }

  /**
   * The newest proof of a payment that was made before, e.g. to send it again after a crash. Undefined: not made yet, or
   * over for an hour.
   */
  proofOf(id: string) {
    return this.#core.journal.get(id).proof ?? undefined;
  }
}
