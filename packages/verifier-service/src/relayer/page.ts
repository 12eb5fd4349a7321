import type { Block, ChainNode, Log } from "@sotto/chain";
import { poolInterface } from "@sotto/chain/ethers";
import type { LogDescription } from "ethers";
import type { LedgerPage, Row } from "../store/index.ts";

interface MutablePage extends LedgerPage {
  leaves: Row<"leaves">[];
  appends: Row<"appends">[];
  spends: Row<"spends">[];
  blocks: Row<"blocks">[];
}

/** Reorganisations are mostly shorter than this; deeper ones take back more than they must. */
const MOST_BACK = 64;

/** What a page adds to: leaves queued and appended before it. */
export interface PageStart {
  leaves: number;
  appended: number;
}

export async function expectBlock(view: ChainNode, number: number): Promise<Block> {
  const block = await view.block(number);
  if (block === undefined) throw view.inconsistent(`has no block ${number}`);
  return block;
}

/** Leaves must follow one another without a gap: a node that leaves events out is noticed. */
export async function readPage(
  view: ChainNode,
  logs: readonly Log[],
  start: PageStart,
  from: number,
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
        // Without a note left over nothing was queued.
        if (args["commitment"] !== 0n) queue(leafIndex, [args["commitment"]], block_number);
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
  page.blocks.push(...(await blocksOf(view, hashes, from, end)));
  return page;
}

function parse(view: ChainNode, log: Log): LogDescription | undefined {
  try {
    return poolInterface.parseLog(log) ?? undefined;
  } catch {
    throw view.inconsistent(`gives a log in block ${log.blockNumber} that is not the pool's`);
  }
}

/**
 * The blocks with events, the last one, and some before it (1, 2, 4 .. blocks back): where one of them is canonical, so
 * is all that was read up to it, and a reorganisation of a few blocks takes back a few blocks.
 */
async function blocksOf(
  view: ChainNode,
  hashes: ReadonlyMap<number, string>,
  from: number,
  end: Block,
): Promise<Row<"blocks">[]> {
  const numbers = new Set([...hashes.keys(), end.number]);
  for (let back = 1; back <= MOST_BACK && end.number - back >= from; back *= 2) numbers.add(end.number - back);
  const blocks: Row<"blocks">[] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const { hash, timestamp } = number === end.number ? end : await expectBlock(view, number);
    if ((hashes.get(number) ?? hash) !== hash) throw view.inconsistent("gives logs of another chain than its blocks");
    blocks.push({ number, hash, timestamp });
  }
  return blocks;
}
