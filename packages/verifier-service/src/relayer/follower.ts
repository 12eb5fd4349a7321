import {
  type Block,
  type Chain,
  ChainError,
  type ChainNode,
  fetchRange,
  type Head,
  type PageStart,
  poolViews,
} from "@sotto/chain";
import { LOCAL_CHAIN_IDS, parseAddress } from "@sotto/protocol";
import type { Lease, LedgerPage, Row, Store } from "../store/index.ts";
import { readPage } from "./page.ts";
import type { PoolDeployment, RelayerConfig } from "./types.ts";

export interface FollowerOptions {
  store: Store;
  chain: Chain;
  pool: PoolDeployment;
  config: Pick<RelayerConfig, "rangeSize" | "reorgDepth">;
}

export interface Progress {
  head: Head;
  /** Set where blocks that had been read are gone: the newest one that is still there. */
  reorganisedTo?: number | undefined;
}

/**
 * Reads the pool's events into the store, in the order of the chain and from one chain only. Whatever the relayer
 * says about payments rests on these events, not on receipts of its own transactions: who sent one does not matter.
 */
export class Follower {
  readonly #options: FollowerOptions;
  #range: number;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#range = options.config.rangeSize;
  }

  /** Reads up to the newest block. */
  async catchUp(lease: Lease): Promise<Progress> {
    const { store, chain, pool } = this.#options;
    const head = await chain.head();
    const known = await store.ledger.blocks();
    const last = known[0];
    if (last?.number === head.number && last.hash === head.hash) return { head };
    const ancestor = await this.#ancestor(known);
    let reorganisedTo: number | undefined;
    if (last !== undefined && ancestor?.number !== last.number) {
      reorganisedTo = ancestor?.number ?? pool.deploymentBlock - 1;
      await this.#rollBack(lease, reorganisedTo, ancestor === undefined);
    }
    let next = (ancestor?.number ?? pool.deploymentBlock - 1) + 1;
    let parent: Pick<Block, "number" | "hash"> | undefined = ancestor;
    while (next <= head.number) {
      const to = Math.min(next + this.#range - 1, head.number);
      const page = await this.#read(next, to, parent, to === head.number);
      if (page === undefined) continue;
      await store.asRelayer(lease, ({ ledger }) => ledger.add(page, this.#options.config.reorgDepth));
      this.#range = Math.min(this.#range * 2, this.#options.config.rangeSize);
      parent = page.blocks.at(-1);
      next = to + 1;
    }
    return reorganisedTo === undefined ? { head } : { head, reorganisedTo };
  }

  /**
   * The newest block that was read and is still canonical; undefined where none is. Only a local chain begins anew:
   * elsewhere no reorganisation goes back that far, but a node that is still syncing, or lies, looks the same, and all
   * that was read and sent would be thrown away for it.
   */
  #ancestor(known: readonly Row<"blocks">[]): Promise<Row<"blocks"> | undefined> {
    const { chain, pool } = this.#options;
    return chain.useNode(async (view) => {
      for (const block of known) if ((await view.block(block.number))?.hash === block.hash) return block;
      if (known.length > 0 && !LOCAL_CHAIN_IDS.includes(pool.chainId))
        throw view.inconsistent("has none of the blocks that were read before");
      return undefined;
    });
  }

  /** @param all whether nothing that was read is left */
  async #rollBack(lease: Lease, block: number, all: boolean): Promise<void> {
    await this.#options.store.asRelayer(lease, async ({ ledger, operations }) => {
      await ledger.rollBack(block);
      await operations.unsettle(block);
      if (all) await operations.resetForNewChain();
      else await operations.unmine(block);
    });
  }

  /**
   * One page, all of it from one node; undefined if the range has to be smaller.
   * @param newest whether it ends with the newest block, whose state every node has
   */
  async #read(
    from: number,
    to: number,
    parent: Pick<Block, "number" | "hash"> | undefined,
    newest: boolean,
  ): Promise<LedgerPage | undefined> {
    const { chain, pool, store } = this.#options;
    const start = { leaves: await store.ledger.leafCount(), appended: (await store.ledger.lastAppend())?.size ?? 0 };
    try {
      return await chain.useNode(async (node) => {
        const previous = parent && { to: parent.number, hash: parent.hash };
        const range = await fetchRange(node, pool.pool, { from, to, timed: false }, previous);
        if (range === undefined) throw node.inconsistent("changed its chain while it was read");
        const page = await readPage(node, range, start);
        // Nodes often have a block before they have its logs: the contract's own count shows what is missing.
        if (newest) await this.#compare(node, to, start, page);
        return page;
      });
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== "RANGE_TOO_LARGE") throw error;
      this.#range = Math.max(1, Math.floor((to - from + 1) / 2));
      return undefined;
    }
  }

  async #compare(node: ChainNode, block: number, start: PageStart, { leaves, appends }: LedgerPage): Promise<void> {
    const { size, appended } = await poolViews(node, parseAddress(this.#options.pool.pool)).queue(block);
    const read = [start.leaves + leaves.length, appends.at(-1)?.size ?? start.appended].join();
    if (read !== [size, appended].join())
      throw node.inconsistent(`has events for ${read} notes, the contract ${size},${appended}`);
  }
}
