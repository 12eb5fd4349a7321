import { parseAddress } from "@sotto/protocol";
import { abortable } from "../abortable.ts";
import { ChainError, isNodeFault } from "../errors.ts";
import type { Block } from "../rpc/values.ts";
import { type ChainSource, inconsistent, useNode } from "../source.ts";
import { readAnchors } from "./anchors.ts";
import { type EventRange, fetchRange, parseQueue, type QueueCounts, type QueuePage, splitRange } from "./page.ts";
import { poolViews } from "./views.ts";

/** A block that was read. While it is on the chain, so is everything that was read up to it. */
export type BlockRef = Pick<Block, "number" | "hash">;

/**
 * A range of blocks with the pool's events. Where pages end depends on the chain and on the options, never on a wallet.
 */
export interface PoolPage extends EventRange, QueuePage {
  /** The counts before this page. */
  start: QueueCounts;
  /** Blocks that reveal a reorganization within the page, oldest first; empty unless the follower's `anchors` is set. */
  anchors: Block[];
}

/** Stores what a follower reads. Each call must be atomic: the process may die at any time. */
export interface PageSink {
  /** Blocks that reveal a reorganization, newest first. The first one is the last block that was read. */
  known(): Promise<readonly BlockRef[]>;
  /** The counts after the last page. */
  counts(): Promise<QueueCounts>;
  /** Appends a page. `head` is the newest block when the catch-up began. */
  add(page: PoolPage, head: Block): Promise<void>;
  /** Deletes everything after block `to`; everything if `to` is before the pool's deployment. */
  rollBack(to: number): Promise<void>;
  /**
   * Called if no node has events that continue the counts, because one of the stored pages may lack events. The sink
   * deletes the pages that it has not checked against the contract, and the catch-up fails.
   */
  discardUnchecked?(): Promise<void>;
}

/** The pool that a follower reads, and how it reads. */
export interface FollowerOptions<Newest extends Block = Block> {
  /** Where the pool is read. Its `head` may return more than a `Block`: `CaughtUp.head` has the same fields. */
  chain: Omit<ChainSource, "head"> & { head(): Promise<Newest> };
  /** Lower case. */
  pool: string;
  /** The block of the pool's deployment. Earlier blocks are not read. */
  deploymentBlock: number;
  /** Maximum blocks per request for events. If the nodes refuse a range, the follower asks for smaller ones. */
  rangeSize: number;
  /**
   * Blocks on top of a final block, 0 by default. No page contains both final and other blocks, so a typical
   * reorganization rolls back only small pages.
   */
  finality?: number | undefined;
  /** Whether events need the times of their blocks. */
  timed?: boolean | undefined;
  /** Whether pages list anchors for the sink to keep, so that a reorganization rolls back fewer blocks than a page. */
  anchors?: boolean | undefined;
  /** Whether to compare the contract's own counts at the newest block: nodes often have a block before its logs. */
  checkQueue?: boolean | undefined;
  /**
   * Whether to roll back if the chain only lacks the newest known blocks, and to roll everything back if it has none of the
   * known blocks; if false, that is an error. A node that is behind or still syncing, or that lies, cannot be distinguished
   * from such a reorganization.
   */
  canReset: boolean;
}

/** The result of a catch-up. */
export interface CaughtUp<Newest extends Block = Block> {
  /** The newest block when the catch-up began. Everything up to it is in the sink. */
  head: Newest;
  /** The last block that was kept, if blocks were rolled back since the last catch-up that succeeded. */
  rolledBackTo: number | undefined;
}

interface RangeToRead {
  from: number;
  to: number;
  /** The last block of the previous page, and the counts after it. */
  last: BlockRef | undefined;
  counts: QueueCounts;
  head: Block;
  sink: PageSink;
  /** Whether the catch-up restarted before. */
  restarted: boolean;
}

const MAX_RESTARTS = 5;
/**
 * By how much a range shrinks if the nodes respond, but not to the request for its logs. A node that times out costs seconds
 * each time, so a single block is reached in a few steps.
 */
const SHRINK = 8;

/** Keeps a sink in step with the canonical chain: reads the pool's events page by page, and rolls reorganizations back. */
export class PoolFollower<Newest extends Block = Block> {
  readonly #options: FollowerOptions<Newest>;
  /** The chain of the current call, whose requests end with the call's signal. */
  #chain: FollowerOptions<Newest>["chain"];
  /** Current number of blocks per request. */
  #range: number;
  /** Maximum number of blocks per request that the nodes are expected to permit. */
  #maxRange: number;
  #rolledBackTo: number | undefined;

  constructor(options: FollowerOptions<Newest>) {
    this.#options = options;
    this.#chain = options.chain;
    this.#range = options.rangeSize;
    this.#maxRange = options.rangeSize;
  }

  /**
   * Reads up to the newest block. If it fails or is aborted, the sink keeps the pages it has, and the next call resumes.
   * Only one call at a time.
   * @param sink holds the same pages in every call
   * @throws ChainError NODE_INCONSISTENT, and faults of nodes; errors of the sink
   */
  async catchUp(sink: PageSink, signal?: AbortSignal): Promise<CaughtUp<Newest>> {
    this.#chain = abortable(this.#options.chain, signal);
    const head = await this.#head();
    for (let restarts = 0; !(await this.#follow(sink, head, restarts > 0, signal)); restarts += 1)
      if (restarts >= MAX_RESTARTS)
        throw inconsistent(this.#chain, "kept changing its chain while it was read; try again");
    const rolledBackTo = this.#rolledBackTo;
    this.#rolledBackTo = undefined;
    return { head, rolledBackTo };
  }

  /** The newest block. If the first node has not reached the pool's deployment, the others are asked. */
  async #head(): Promise<Newest> {
    const { deploymentBlock } = this.#options;
    const chain = this.#chain;
    const newest = await chain.head();
    if (newest.number >= deploymentBlock) return newest;
    return useNode(chain, async (node) => {
      // The nodes of a `Chain` return the same fields as the `Chain` itself.
      const head = (await node.head()) as Newest;
      if (head.number < deploymentBlock)
        throw inconsistent(node, `is at block ${head.number}, before the pool's deployment in ${deploymentBlock}`);
      return head;
    });
  }

  /** @returns false if the chain changed in between */
  async #follow(sink: PageSink, head: Newest, restarted: boolean, signal: AbortSignal | undefined): Promise<boolean> {
    const { deploymentBlock, finality = 0, canReset } = this.#options;
    const known = await sink.known();
    if (known[0]?.number === head.number && known[0].hash === head.hash) return true;
    let last = await this.#ancestor(known, head);
    if (!canReset && last !== undefined && last.number > head.number)
      throw inconsistent(this.#options.chain, `is at block ${head.number}, but was read up to block ${last.number}`);
    if (last !== known[0]) {
      const to = last?.number ?? deploymentBlock - 1;
      this.#rolledBackTo = Math.min(to, this.#rolledBackTo ?? to);
      await sink.rollBack(to);
    }
    let counts = await sink.counts();
    const final = head.number - finality;
    for (;;) {
      const from = last === undefined ? deploymentBlock : last.number + 1;
      if (from > head.number) return true;
      signal?.throwIfAborted();
      const to = Math.min(from + this.#range - 1, from <= final ? final : head.number);
      const pages = await this.#read({ from, to, last, counts, head, sink, restarted });
      if (pages === "too large") continue;
      if (pages === undefined) return false;
      for (const page of pages) {
        signal?.throwIfAborted();
        await sink.add(page, head);
        last = { number: page.to, hash: page.hash };
        counts = countsAfter(page);
      }
    }
  }

  /**
   * The newest known block that is still canonical; undefined if there is none. A node that is behind lacks blocks, and
   * a node on a stale fork has different ones, so blocks are rolled back only if no node has both `head` and the newest
   * known block.
   */
  async #ancestor(known: readonly BlockRef[], head: Block): Promise<BlockRef | undefined> {
    const { canReset } = this.#options;
    if (known.length === 0) return undefined;
    /** An index in `known`; `known.length` means none. */
    let best: { index: number; hasHead: boolean } | undefined;
    const search = async (node: ChainSource): Promise<boolean> => {
      let index = 0;
      let lacks = true;
      for (const { number, hash } of known) {
        const block = await node.block(number);
        if (block?.hash === hash) break;
        lacks &&= block === undefined;
        index += 1;
      }
      if (index === known.length && !canReset) throw inconsistent(node, "has none of the blocks that were read before");
      const hasHead = (await node.block(head.number))?.hash === head.hash;
      // Only other blocks in the place of the known ones show a reorganization.
      if (lacks && !canReset) index = 0;
      if (best === undefined || (hasHead && (!best.hasHead || index < best.index))) best = { index, hasHead };
      return hasHead && index === 0;
    };
    try {
      await useNode(this.#chain, search, (found) => found);
    } catch (error) {
      if (best === undefined || !isNodeFault(error)) throw error;
    }
    return known[best!.index];
  }

  /** Reads a range from one node, and checks all of it before any of it is stored; undefined if the chain changed. */
  async #read(range: RangeToRead): Promise<PoolPage[] | "too large" | undefined> {
    const { from, to, last, counts, head, sink, restarted } = range;
    const { pool, rangeSize, timed = false, anchors, checkQueue } = this.#options;
    const chain = this.#chain;
    let changed = false;
    let gap: unknown;
    let otherFault = false;
    const readChecked = async (node: ChainSource): Promise<PoolPage[] | undefined> => {
      const fetched = await fetchRange(node, pool, { from, to, timed }, last);
      if (fetched === undefined) return undefined;
      let pages: PoolPage[];
      try {
        pages = splitPages(node, fetched, counts);
      } catch (error) {
        gap = error;
        throw error;
      }
      if (checkQueue && to === head.number) await this.#compareQueue(node, to, countsAfter(pages.at(-1)!));
      if (anchors) for (const page of pages) page.anchors = await readAnchors(node, page);
      return pages;
    };
    const read = async (node: ChainSource): Promise<PoolPage[] | undefined> => {
      try {
        const pages = await readChecked(node);
        changed ||= pages === undefined;
        return pages;
      } catch (error) {
        otherFault ||= error !== gap;
        throw error;
      }
    };
    try {
      const pages = await useNode(chain, read, (found) => found !== undefined);
      // Some nodes limit logs, not blocks, so the range sometimes grows slightly beyond what the nodes permitted last
      // time.
      this.#range = Math.min(this.#range * 2, this.#maxRange, rangeSize);
      this.#maxRange += Math.max(1, Math.floor(this.#maxRange / 16));
      return pages;
    } catch (error) {
      if (error instanceof ChainError && error.code === "RANGE_TOO_LARGE" && from < to) {
        this.#maxRange = to - from;
        this.#range = Math.max(1, Math.floor((to - from + 1) / 2));
        return "too large";
      }
      if (!changed && gap === undefined && from < to && mayBeTooLarge(error) && (await someNodeResponds(chain))) {
        this.#range = Math.max(1, Math.floor((to - from + 1) / SHRINK));
        this.#maxRange = this.#range;
        return "too large";
      }
      // Another node's fault does not hide a reorganization. If the restart does not help, the fault is thrown.
      if (changed && !restarted && isNodeFault(error)) return undefined;
      if (error === gap && !changed && !otherFault && (await everyNodeResponds(chain))) await sink.discardUnchecked?.();
      throw error;
    }
  }

  /** Nodes often have a block before they have its logs: the contract's own counts show what is missing. */
  async #compareQueue(node: ChainSource, block: number, { leaves, appended }: QueueCounts): Promise<void> {
    const queue = await poolViews(node, parseAddress(this.#options.pool)).queue(block);
    if (leaves !== queue.size || appended !== queue.appended) {
      const counts = `${leaves} queued and ${appended} appended notes`;
      throw inconsistent(node, `has events for ${counts}, but the contract counts ${queue.size} and ${queue.appended}`);
    }
  }
}

/** Whether the size of a range may be the reason for a fault: not all nodes say so, some time out or answer without JSON. */
const mayBeTooLarge = (error: unknown): boolean =>
  error instanceof ChainError && (error.code === "NODE_UNREACHABLE" || error.code === "NODE_ERROR");

function someNodeResponds(chain: ChainSource): Promise<boolean> {
  return useNode(chain, (node) => node.head()).then(
    () => true,
    () => false,
  );
}

/** Whether every node responds now: an unreachable one may have the events that the others lack. */
function everyNodeResponds(chain: ChainSource): Promise<boolean> {
  const ask = async (node: ChainSource) => void (await node.head());
  return useNode(chain, ask, () => false).then(
    () => true,
    () => false,
  );
}

/** The pages of a range. @throws ChainError NODE_INCONSISTENT if the events do not continue the counts */
function splitPages(node: ChainSource, range: EventRange, start: QueueCounts): PoolPage[] {
  const pages: PoolPage[] = [];
  let counts = start;
  for (const part of splitRange(range)) {
    const page = { ...part, ...parseQueue(node, part.events, counts), start: counts, anchors: [] };
    pages.push(page);
    counts = countsAfter(page);
  }
  return pages;
}

function countsAfter({ start, leaves, appends }: PoolPage): QueueCounts {
  return { leaves: start.leaves + leaves.length, appended: appends.at(-1)?.size ?? start.appended };
}
