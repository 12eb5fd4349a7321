import type { LogDescription } from "ethers";
import type { Lease, LedgerPage, Row, Store } from "../store/index.ts";
import type { ChainReader, NodeView } from "./chain/reader.ts";
import { RpcAnswer } from "./chain/rpc.ts";
import type { Block, Head, Log } from "./chain/values.ts";
import { poolInterface } from "./pool.ts";
import type { PoolPlace, RelayerConfig } from "./types.ts";

export interface FollowerOptions {
  store: Store;
  chain: ChainReader;
  pool: PoolPlace;
  config: Pick<RelayerConfig, "rangeSize" | "reorgDepth">;
}

export interface Progress {
  head: Head;
  /** Set where blocks that had been read are gone: the newest one that is still there. */
  reorganisedTo?: number;
}

interface MutablePage extends LedgerPage {
  leaves: Row<"leaves">[];
  appends: Row<"appends">[];
  spends: Row<"spends">[];
  blocks: Row<"blocks">[];
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
      await this.#rollBack(lease, reorganisedTo);
    }
    let next = (ancestor?.number ?? pool.deploymentBlock - 1) + 1;
    let parent: Pick<Block, "number" | "hash"> | undefined = ancestor;
    while (next <= head.number) {
      const to = Math.min(next + this.#range - 1, head.number);
      const page = await this.#read(next, to, parent);
      if (page === undefined) continue;
      await store.asRelayer(lease, ({ ledger }) => ledger.add(page, this.#options.config.reorgDepth));
      this.#range = Math.min(this.#range * 2, this.#options.config.rangeSize);
      parent = page.blocks.at(-1);
      next = to + 1;
    }
    return reorganisedTo === undefined ? { head } : { head, reorganisedTo };
  }

  /** The newest block that was read and is still canonical. */
  #ancestor(known: readonly Row<"blocks">[]): Promise<Row<"blocks"> | undefined> {
    return this.#options.chain.use(async (view) => {
      for (const block of known) if ((await view.block(block.number))?.hash === block.hash) return block;
      return undefined;
    });
  }

  async #rollBack(lease: Lease, block: number): Promise<void> {
    await this.#options.store.asRelayer(lease, async ({ ledger, operations }) => {
      await ledger.rollBack(block);
      await operations.unsettle(block);
      await operations.unmine(block);
    });
  }

  /** One page, all of it from one node; undefined where the node wants to be asked for fewer blocks. */
  async #read(from: number, to: number, parent?: Pick<Block, "number" | "hash">): Promise<MutablePage | undefined> {
    const { chain, pool, store } = this.#options;
    const start = { leaves: await store.ledger.leafCount(), appended: (await store.ledger.lastAppend())?.size ?? 0 };
    try {
      return await chain.use(async (view) => {
        const end = await expectBlock(view, to);
        const logs = await view.logs(pool.pool, from, to);
        if ((await view.block(to))?.hash !== end.hash) throw view.inconsistent("changed its chain while it was read");
        if (parent && (await view.block(parent.number))?.hash !== parent.hash)
          throw view.inconsistent(`has another block ${parent.number} than was read before`);
        if (logs.some((log) => log.blockNumber === to && log.blockHash !== end.hash))
          throw view.inconsistent("gives logs of another chain than its blocks");
        return readPage(view, logs, start, end);
      });
    } catch (error) {
      // Nodes refuse large ranges in many words: asking for less is cheaper than knowing them all.
      if (to === from || !(error instanceof RpcAnswer)) throw error;
      this.#range = Math.max(1, Math.floor((to - from + 1) / 2));
      return undefined;
    }
  }
}

async function expectBlock(view: NodeView, number: number): Promise<Block> {
  const block = await view.block(number);
  if (block === undefined) throw view.inconsistent(`has no block ${number}`);
  return block;
}

/** Leaves must follow one another without a gap: a node that leaves events out is noticed. */
async function readPage(
  view: NodeView,
  logs: readonly Log[],
  start: { leaves: number; appended: number },
  end: Block,
): Promise<MutablePage> {
  const page: MutablePage = { leaves: [], appends: [], spends: [], blocks: [] };
  let { leaves, appended } = start;
  const queue = (leafIndex: number, commitments: readonly bigint[], block_number: number) => {
    if (leafIndex !== leaves) throw view.inconsistent(`left out events: leaf ${leafIndex} follows ${leaves - 1}`);
    for (const commitment of commitments) {
      page.leaves.push({ leaf_index: leaves, commitment: String(commitment), block_number });
      leaves += 1;
    }
  };
  const hashes = new Map<number, string>();
  for (const log of logs) {
    const event = parse(view, log);
    if (event === undefined) continue;
    hashes.set(log.blockNumber, log.blockHash);
    const { blockNumber: block_number, transactionHash: tx_hash } = log;
    const { args } = event;
    const leafIndex = Number(args["leafIndex"]);
    const digest = args["digest"];
    switch (event.name) {
      case "Deposited":
        queue(leafIndex, [args["commitment"]], block_number);
        break;
      case "Settled":
        queue(leafIndex, [args["recipientCommitment"], args["changeCommitment"]], block_number);
        page.spends.push({ nullifier: String(args["nullifier"]), digest, tx_hash, block_number });
        break;
      case "Withdrawn":
        queue(leafIndex, [args["commitment"]], block_number);
        for (const nullifier of args["nullifiers"] as bigint[])
          if (nullifier !== 0n) page.spends.push({ nullifier: String(nullifier), digest, tx_hash, block_number });
        break;
      case "Appended": {
        if (Number(args["startIndex"]) !== appended) throw view.inconsistent("left out an append");
        appended += Number(args["count"]);
        page.appends.push({ size: appended, root: String(args["newRoot"]), block_number });
        break;
      }
      default:
    }
  }
  page.blocks.push(...(await blocksOf(view, hashes, end)));
  return page;
}

function parse(view: NodeView, log: Log): LogDescription | undefined {
  try {
    return poolInterface.parseLog(log) ?? undefined;
  } catch {
    throw view.inconsistent(`gives a log in block ${log.blockNumber} that is not the pool's`);
  }
}

/** The blocks with events and the last one: where they are canonical, so is all that was read. */
async function blocksOf(view: NodeView, hashes: ReadonlyMap<number, string>, end: Block): Promise<Row<"blocks">[]> {
  const blocks: Row<"blocks">[] = [];
  for (const [number, hash] of hashes) {
    const block = number === end.number ? end : await expectBlock(view, number);
    if (block.hash !== hash) throw view.inconsistent("gives logs of another chain than its blocks");
    blocks.push(block);
  }
  if (!hashes.has(end.number)) blocks.push({ number: end.number, hash: end.hash, timestamp: end.timestamp });
  return blocks;
}
