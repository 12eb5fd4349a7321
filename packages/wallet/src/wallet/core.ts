import {
  abortable,
  type Block,
  ChainError,
  type ChainSource,
  chainTime,
  clockLead,
  delay,
  MAX_CLOCK_LEAD_SECONDS,
  poolViews,
  readNewest,
} from "@sotto/chain";
import {
  monthsNear,
  type NoteTree,
  type PaymentInputs,
  preparePayment,
  type SpendableNote,
  type Statement,
  type WalletKeys,
} from "@sotto/protocol";
import type { Prover } from "@sotto/prover";
import { WalletError } from "../errors.ts";
import type { FoundNote } from "../scan/notes.ts";
import { walletScanKeys } from "../scan/scan-keys.ts";
import { PoolSync } from "../scan/sync.ts";
import { TreeView } from "../scan/tree.ts";
import type { ScanProgress, ScanResult } from "../scan/types.ts";
import type { SottoService } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import { NoteGroups } from "./apart.ts";
import { ClaimedIds } from "./claimed-ids.ts";
import type { PoolInfo } from "./connect.ts";
import type { FundingRecord } from "./funding-record.ts";
import { Journal, lastDeadline } from "./journal.ts";
import { Lock } from "./lock.ts";
import type { CheckedTerms } from "./payment-request.ts";
import { PreparedPayments } from "./prepared.ts";
import { ProofQueue } from "./proof-queue.ts";
import { type SearchOptions, search } from "./search.ts";
import type { Funds } from "./select.ts";
import { assertSignals } from "./signals.ts";
import { type Balance, balanceOf, fundsOf, statusOf, type View, type WalletNote, walletNotes } from "./state.ts";

/** The part of @sotto/prover's `Prover` that a wallet uses. */
export type WalletProver = Pick<Prover, "prove"> &
  Partial<Pick<Prover, "load" | "prepare" | "warm">> & {
    /** The set of keys that it proves with, which must be the pool's. */
    artifacts: Pick<Prover["artifacts"], "set">;
  };

/**
 * Pauses, ms, before the wallet reads the root at the newest block again. Anvil answers a call at this block with the state
 * of the next one while it mines it. Older blocks are read once.
 */
const ROOT_REREADS = [50, 150, 500];

/** Seconds to keep a proof after its validUntil: the proof is sent to resource servers for minutes after settlement. */
const PROOF_KEPT = 3_600;

/** Maximum seconds by which the clock may be behind the chain if a server's clock differs from it. */
const MAX_LAG = 30;

/**
 * Whether anyone was ever given the lasting address, for direct payments or a phone number. "unused" makes scans twice as fast,
 * and a payment to that address is found only by `search`.
 */
export type LastingAddress = "used" | "unused";

/** Options of a scan. */
export interface ScanOptions {
  /** Called after each range of blocks. */
  onProgress?: ((progress: ScanProgress) => void) | undefined;
  /** Stops the scan; the next one continues there. */
  signal?: AbortSignal | undefined;
}

export interface CoreOptions {
  lastingAddress?: LastingAddress | undefined;
  chain: ChainSource;
  info: PoolInfo;
  keys: WalletKeys;
  store: Store;
  prover: WalletProver | undefined;
  finality: number;
  clock: () => number;
  rangeSize?: number | undefined;
  /** The default service for deposits, or its base URL. */
  service?: SottoService | string | undefined;
}

/** The state that all actions of a wallet share. */
export class WalletCore {
  readonly lock = new Lock();
  readonly proofs = new ProofQueue();
  readonly prepared = new PreparedPayments(this);
  readonly groups = new NoteGroups();
  readonly fundings = new ClaimedIds(
    (id) => new WalletError("DEPOSIT_IN_PROGRESS", "another call is working on this deposit", { id }),
  );
  /** Ids and terms of withdrawals. */
  readonly withdrawals = new ClaimedIds(
    () => new WalletError("WITHDRAWAL_IN_PROGRESS", "another call is working on this withdrawal; wait until it ends"),
  );
  /** Finished deposits whose notes are not confirmed or not in the tree, by id; undefined before the first scan. */
  unconfirmedFundings: Map<string, FundingRecord> | undefined;
  /** Aborted when the wallet is closed. */
  readonly closing: AbortController;
  readonly tree: TreeView;
  readonly options: CoreOptions;
  readonly sync: PoolSync;
  readonly journal: Journal;
  /** Seconds by which the clock was ahead of the chain at the last scan; 0 if the chain did not tell. */
  #lead = 0;
  /** The chain's time at the last scan, seconds. */
  #chainTime = 0;

  private constructor(
    options: CoreOptions,
    closing: AbortController,
    sync: PoolSync,
    tree: TreeView,
    journal: Journal,
  ) {
    this.options = options;
    this.closing = closing;
    this.tree = tree;
    this.sync = sync;
    this.journal = journal;
  }

  static async open(options: CoreOptions): Promise<WalletCore> {
    const { info, keys, store, finality, rangeSize } = options;
    const closing = new AbortController();
    // A node that does not answer does not delay `close`.
    const chain = abortable(options.chain, closing.signal);
    const tree = await TreeView.open(store);
    const sync = await PoolSync.open({
      chain,
      deployment: info,
      deploymentBlock: info.deploymentBlock,
      store,
      finality,
      keys: walletScanKeys(keys, options.lastingAddress !== "unused"),
      rangeSize,
      meanwhile: (ledger) => tree.advance(ledger),
    });
    return new WalletCore({ ...options, chain }, closing, sync, tree, await Journal.open(store));
  }

  get view(): View {
    const { ledger, confirmed, head } = this.sync;
    const now = Math.max(this.options.clock(), (head?.timestamp ?? 0) * 1000);
    return { ledger, journal: this.journal, confirmed, now };
  }

  notes(): WalletNote[] {
    return walletNotes(this.view);
  }

  balance(): Balance {
    return balanceOf(this.notes());
  }

  get finality(): number {
    return this.options.finality;
  }

  get height(): number {
    return this.sync.height;
  }

  get pool(): PoolInfo {
    return this.options.info;
  }

  /** Scans the chain and checks the tree against the contract's root. */
  async scan({ onProgress, signal }: ScanOptions = {}): Promise<ScanResult> {
    this.closing.signal.throwIfAborted();
    const result = await this.sync.scan(onProgress, signal);
    try {
      await this.#checkRoot(signal);
    } catch (error) {
      if (error instanceof WalletError && error.code === "ROOT_MISMATCH") await this.sync.forgetUnchecked();
      throw error;
    }
    await this.tree.keep(this.options.store);
    // The root confirms all events before its last leaf, but not the events after it.
    const { ledger } = this.sync;
    this.sync.checked = (ledger.pageOf(this.confirmedTree().size - 1)?.from ?? 0) - 1;
    await this.#compareClock(signal);
    // The chain's time decides. A clock that is ahead would delete proofs that servers still accept.
    const end = (this.sync.confirmed?.timestamp ?? 0) - PROOF_KEPT;
    await this.journal.dropProofs((record) => lastDeadline(record) < end && statusOf(record, this.view).final);
    this.prepared.sweep();
    return result;
  }

  /** @returns how many payments it found */
  search(options: SearchOptions): Promise<number> {
    const { sync, lock } = this;
    return search({ sync, lock, scan: (signal) => this.scan({ signal }) }, options);
  }

  /**
   * The tree at the newest confirmed root. The pool accepts older roots too, but an unusual root would be a
   * fingerprint.
   */
  confirmedTree(): NoteTree {
    const { ledger, confirmed } = this.sync;
    return this.tree.at(ledger, ledger.appendAt(confirmed?.number ?? -1));
  }

  /** The notes that can be selected for a payment, and the amount that cannot be yet. */
  funds(): Funds<WalletNote> {
    return fundsOf(this.notes());
  }

  /** The inputs of a payment from this note, proved on this tree. */
  paymentInputs(
    { address, recipient, amount }: CheckedTerms,
    note: FoundNote,
    tree: NoteTree,
    resourceUrl: string,
    timestamp: number,
  ): PaymentInputs {
    const { keys, info } = this.options;
    const changeKey = this.changeKeyAt(timestamp);
    return preparePayment({
      chainId: info.chainId,
      pool: info.pool,
      tree,
      note: this.spendable(note),
      changeKey,
      nonceKey: keys.nonceKey,
      changeTag: keys.ownerTag(0),
      recipient: { ...address, wallet: recipient.wallet },
      amount,
      resourceUrl,
      timestamp,
    });
  }

  /** The change key of the month in which a proof is made, at `ms`. It finds the change of that month only. */
  changeKeyAt(ms: number): bigint {
    const { keys } = this.options;
    const [month] = monthsNear(Math.floor(ms));
    return month === undefined ? keys.changeKey : keys.ofMonth(month).changeKey;
  }

  spendable(note: { amount: bigint; blinding: bigint; keyIndex: number; leafIndex: number }): SpendableNote {
    const { amount, blinding, leafIndex } = note;
    return { amount, blinding, leafIndex, spendingKey: this.options.keys.spendingKey(note.keyIndex) };
  }

  /** @throws WalletError INVALID_OPTION without a prover */
  prover(): WalletProver {
    const { prover } = this.options;
    if (prover === undefined)
      throw new WalletError(
        "INVALID_OPTION",
        "this wallet was opened without a prover, so it cannot spend; pass `prover` to Wallet.open",
      );
    return prover;
  }

  /**
   * Begins to load what the proofs of these circuits need, while the wallet waits for its nodes. The proofs report what
   * fails.
   * @throws WalletError INVALID_OPTION without a prover
   */
  loadProver(circuits: readonly string[]): void {
    const prover = this.prover();
    const load = async () => {
      for (const circuit of circuits) await prover.load?.(circuit);
    };
    load().catch(() => undefined);
  }

  /** Proves `statement` and checks that the proof has its public signals. @returns eight decimal words */
  prove(circuit: string, statement: Statement, signal?: AbortSignal): Promise<string[]> {
    return this.proofs.now(() => this.proveNow(circuit, statement, signal));
  }

  /** As `prove`, beside the queue of proofs. */
  async proveNow(circuit: string, statement: Statement, signal?: AbortSignal): Promise<string[]> {
    const { proof, publicSignals } = await this.prover().prove(circuit, statement.input, { signal });
    assertSignals(circuit, publicSignals, statement.publicSignals);
    return proof;
  }

  /**
   * The current time in milliseconds, for a new proof or deadline. Compared with the chain's time at the last scan,
   * because a proof from a wrong clock is refused, but holds its note.
   * @throws WalletError CLOCK_WRONG if the clock is behind the chain by more than `lag` seconds, or ahead by more than
   *   MAX_CLOCK_LEAD_SECONDS
   */
  now(lag: number): number {
    const now = this.options.clock();
    const behind = -clockLead(now, this.sync.head?.timestamp ?? 0);
    if (behind > lag) throw clockWrong(behind, "behind");
    if (this.#lead > MAX_CLOCK_LEAD_SECONDS) throw clockWrong(this.#lead, "ahead");
    return now;
  }

  /**
   * A time that has passed for certain, milliseconds: the chain's at the last scan, and at most the clock's. For
   * decisions that cannot be undone. 0 before the first scan.
   */
  pastTime(): number {
    return Math.floor(Math.min(this.options.clock(), this.#chainTime * 1000));
  }

  /**
   * Compares the clock with the chain's time now.
   * @throws WalletError CLOCK_WRONG; ChainError; the signal's reason
   */
  async assertClock(signal?: AbortSignal): Promise<void> {
    const head = await abortable(this.options.chain, signal).head();
    const { lead } = await this.#compare(head, signal);
    if (-lead > MAX_LAG) throw clockWrong(-lead, "behind");
    if (lead > MAX_CLOCK_LEAD_SECONDS) throw clockWrong(lead, "ahead");
  }

  async #compareClock(signal: AbortSignal | undefined): Promise<void> {
    const { now, time, lead } = await this.#compare(this.sync.head!, signal);
    this.#lead = lead;
    // A local chain's node may report no time; then the clock replaces it.
    this.#chainTime = time ?? now / 1000;
  }

  async #compare(head: Block, signal: AbortSignal | undefined) {
    const { clock, info } = this.options;
    const chain = abortable(this.options.chain, signal);
    const now = clock();
    const time = await chainTime({ chain, head, now, chainId: info.chainId });
    return { now, time, lead: time === undefined ? 0 : clockLead(now, time) };
  }

  async #checkRoot(signal: AbortSignal | undefined): Promise<void> {
    const { info } = this.options;
    const chain = abortable(this.options.chain, signal);
    const { confirmed } = this.sync;
    if (confirmed === undefined) return;
    const { root, size } = this.confirmedTree();
    const views = poolViews(chain, info.pool);
    const read = () =>
      views.root(confirmed.number).catch(async (error: unknown) => {
        // A node without historical state still knows whether the pool ever had this root (the empty root is not recorded).
        if (!(error instanceof ChainError) || !["NODE_ERROR", "CALL_REVERTED"].includes(error.code)) throw error;
        const isKnown = (node: ChainSource, block?: number) => poolViews(node, info.pool).isKnownRoot(root, block);
        const known = size === 0 || (await readNewest(chain, isKnown, (answer) => answer));
        return known ? root : undefined;
      });
    if ((await read()) === root) return;
    for (const pause of confirmed.number === this.sync.height ? ROOT_REREADS : []) {
      await delay(pause, signal);
      if ((await read()) === root) return;
    }
    if ((await chain.block(confirmed.number))?.hash !== confirmed.hash)
      throw new ChainError("NODE_INCONSISTENT", "the node's chain changed during the scan; try again");
    throw new WalletError(
      "ROOT_MISMATCH",
      "the pool's root differs from the root of its events: the node omitted some; try another node",
    );
  }
}

function clockWrong(seconds: number, direction: "ahead" | "behind"): WalletError {
  const side = direction === "ahead" ? "ahead of" : "behind";
  const other = direction === "ahead" ? "; if the clock is right, the node is behind: use another one" : "";
  const message = `this machine's clock is ${seconds} s ${side} the chain's time, so nothing was paid; set the clock${other}`;
  return new WalletError("CLOCK_WRONG", message, { seconds, direction });
}
