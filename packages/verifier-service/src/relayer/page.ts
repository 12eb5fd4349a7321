import type { LogDescription } from "ethers";
import type { LedgerPage, Row } from "../store/index.ts";
import type { NodeView } from "./chain/reader.ts";
import type { Block, Log } from "./chain/values.ts";
import { poolInterface } from "./pool.ts";

interface MutablePage extends LedgerPage {
  leaves: Row<"leaves">[];
  appends: Row<"appends">[];
  spends: Row<"spends">[];
  blocks: Row<"blocks">[];
}

/** What a page adds to: leaves queued and appended before it. */
export interface PageStart {
  leaves: number;
  appended: number;
}

export async function expectBlock(view: NodeView, number: number): Promise<Block> {
  const block = await view.block(number);
  if (block === undefined) throw view.inconsistent(`has no block ${number}`);
  return block;
}

/** Leaves must follow one another without a gap: a node that leaves events out is noticed. */
export async function readPage(
  view: NodeView,
  logs: readonly Log[],
  start: PageStart,
  end: Block,
): Promise<LedgerPage> {
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
