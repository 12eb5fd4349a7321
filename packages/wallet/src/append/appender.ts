import {
  type AppendCall,
  abortable,
  type Block,
  ChainError,
  type ChainSource,
  delay,
  NewestCheckpoint,
  poolViews,
  proveAppend,
  type QueueState,
} from "@sotto/chain";
import type { NoteTree } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import { PoolSync } from "../scan/sync.ts";
import { TreeView } from "../scan/tree.ts";
import type { ScanResult } from "../scan/types.ts";
import type { Store } from "../store/store.ts";
import { assertKeys, connectPool, type PoolInfo, type PoolOptions, parseCount } from "../wallet/connect.ts";
import type { ScanOptions, WalletProver } from "../wallet/core.ts";
import { claimStore } from "../wallet/identity.ts";
import { Lock } from "../wallet/lock.ts";

export interface NoteAppenderOptions extends PoolOptions {
  /** Keeps the scanned tree. One appender per store. */
  store: Store;
  /** Proves appends. */
  prover: WalletProver;
  /** Maximum blocks per request to the node. Default: 10,000. */
  rangeSize?: number | undefined;
}

/** An append ready to be sent. */
export interface PreparedNoteAppend {
  /** The arguments of the contract's `append`; `appendCall` encodes them. */
  append: AppendCall;
  /** Number of leaves that the append moves into the tree. */
  count: number;
  /** Number of leaves that stay in the queue. */
  left: number;
}

const MAX_TRIES = 5;
/** Pause until the newest checkpoint is read again, ms. */
const GROWING_PAUSE_MS = 250;

/**
 * Moves queued notes into the tree. Anyone can do this: it needs gas but no key. The appender works on the newest block
 * without waiting for confirmations, because an append that a reorganization makes stale reverts harmlessly.
 */
export class NoteAppender {
  /** The pool whose queue it appends. */
  readonly pool: PoolInfo;
  readonly #chain: ChainSource;
  readonly #prover: WalletProver;
  readonly #sync: PoolSync;
  readonly #tree: TreeView;
  readonly #store: Store;
  readonly #newest = new NewestCheckpoint();
  readonly #lock = new Lock();

  private constructor(
    pool: PoolInfo,
    chain: ChainSource,
    { store, prover }: NoteAppenderOptions,
    sync: PoolSync,
    tree: TreeView,
  ) {
    this.pool = pool;
    this.#store = store;
    this.#tree = tree;
    this.#chain = chain;
    this.#prover = prover;
    this.#sync = sync;
  }

  /** Opens an appender: checks the chain and the pool. It needs no key. @throws the errors of `Wallet.open` */
  static async open(options: NoteAppenderOptions): Promise<NoteAppender> {
    const { store, prover } = Object(options) as NoteAppenderOptions;
    for (const [name, value] of Object.entries({ store, prover }))
      if (typeof value !== "object" || value === null) throw new WalletError("INVALID_OPTION", `${name} is missing`);
    const rangeSize = options.rangeSize === undefined ? undefined : parseCount(options.rangeSize, "rangeSize", 1);
    const { chain, info } = await connectPool(options);
    assertKeys(prover.artifacts, options, info.chainId);
    await claimStore(store, { ...info, owner: "appender" });
    const { deploymentBlock } = info;
    const sync = await PoolSync.open({ chain, deployment: info, deploymentBlock, store, finality: 0, rangeSize });
    return new NoteAppender(info, chain, options, sync, await TreeView.open(store));
  }

  /** Scans new blocks. */
  scan({ onProgress, signal }: ScanOptions = {}): Promise<ScanResult> {
    return this.#lock.run(() => this.#sync.scan(onProgress, signal), signal);
  }

  /** Number of leaves in the queue, as of the last scan. */
  get queued(): number {
    return this.#sync.ledger.leaves.length - this.#sync.ledger.appended;
  }

  /**
   * Scans the chain and proves the next append, with as many leaves as possible. If later blocks of this second could still
   * change where it ends, it waits until they cannot.
   * @throws WalletError QUEUE_EMPTY, ROOT_MISMATCH; ChainError NODE_INCONSISTENT, PROOF_MISMATCH
   */
  prepare(options: ScanOptions = {}): Promise<PreparedNoteAppend> {
    return this.#lock.run(() => this.#prepare(options), options.signal);
  }

  async #prepare({ onProgress, signal }: ScanOptions): Promise<PreparedNoteAppend> {
    const { chainId, pool } = this.pool;
    for (;;) {
      const { block, queue } = await this.#readQueue(onProgress, signal);
      const leaves = this.#sync.ledger.leaves.slice(queue.appended);
      if (leaves.length === 0) throw new WalletError("QUEUE_EMPTY", "the queue is empty; there is nothing to append");
      const proved = await proveAppend({
        chainId,
        pool,
        chain: abortable(this.#chain, signal),
        block,
        queue,
        newest: this.#newest,
        leaves,
        tree: () => this.#newestTree(),
        prover: this.#prover,
        signal,
      });
      if (proved !== undefined) {
        const count = proved.append.leaves.length;
        return { append: proved.append, count, left: leaves.length - count };
      }
      await delay(GROWING_PAUSE_MS, signal);
    }
  }

  /** The state of the queue at exactly the block up to which events were read. */
  async #readQueue(
    onProgress: ScanOptions["onProgress"],
    signal?: AbortSignal,
  ): Promise<{ readonly block: Block; readonly queue: QueueState }> {
    const chain = abortable(this.#chain, signal);
    for (let i = 0; i < MAX_TRIES; i += 1) {
      await this.#sync.scan(onProgress, signal);
      const { ledger, height } = this.#sync;
      const [block, queue] = [await chain.block(height), await poolViews(chain, this.pool.pool).queue(height)];
      const isSame = queue.size === ledger.leaves.length && queue.appended === ledger.appended;
      if (block !== undefined && isSame) return { block, queue };
    }
    throw new ChainError(
      "NODE_INCONSISTENT",
      "the pool's queue differs from its events; try again, or use another node",
    );
  }

  async #newestTree(): Promise<NoteTree> {
    const { ledger } = this.#sync;
    try {
      const tree = this.#tree.at(ledger, ledger.appends.at(-1));
      await this.#tree.keep(this.#store);
      return tree;
    } catch (error) {
      await this.#sync.forgetUnchecked();
      throw error;
    }
  }
}
