import {
  type Block,
  type Call,
  CallReverted,
  ChainError,
  type ChainSource,
  type Log,
  type LogQuery,
  type PendingBlock,
} from "@sotto/chain";
import type { ContractCall } from "@sotto/chain/ethers";
import { PERMIT2 } from "@sotto/protocol";
import { keccak256, toUtf8Bytes } from "ethers";

/** The contracts of the local chain. Their state is cloned for each block, so that blocks can be reverted. */
export interface LocalContract {
  readonly address: string;
  /** Executes a call in a new block; returns its logs, or throws to revert. `address`: of a contract that it called. */
  execute(call: ContractCall, context: CallContext): { topics: string[]; data: string; address?: string }[];
  view(call: ContractCall, context: CallContext): string;
  snapshot(): unknown;
  restore(snapshot: unknown): void;
}

export interface CallContext {
  sender: string;
  blockNumber: number;
  timestamp: number;
}

export interface LocalBlock extends Block {
  logs: Log[];
  /** State of all contracts after this block. */
  states: unknown[];
}

/** Addresses of accounts that send calls without a signature. */
export const SENDER = `0x${"5e".repeat(20)}`;

/** A chain in memory that executes calls, emits real events and can reorganize. */
export class LocalChain implements ChainSource {
  readonly blocks: LocalBlock[] = [];
  /** The account that sends the calls of `mine`. */
  sender = SENDER;
  readonly #contracts: LocalContract[];
  /** Maximum number of blocks in a request for logs; like real nodes, it refuses larger ranges. */
  mostBlocks = Number.POSITIVE_INFINITY;
  /** Requested ranges of logs. */
  asked: [number, number][] = [];
  /** Called before each request for logs; a test can change the chain during a scan. */
  beforeLogs: () => void = () => undefined;
  id = 31337n;
  /** The answer to the code that asks a contract wallet about a signature. Default: the chain cannot execute code. */
  validation: string | undefined;
  /** Whether it tells the next block and its time, as most nodes do. */
  tellsTime = true;
  /** The chain's time, seconds. */
  time = 1_800_000_000;
  #fork = 0;

  constructor(contracts: LocalContract[]) {
    this.#contracts = contracts;
    this.mine();
  }

  /** Mines a block with these calls, or throws and mines nothing if one of them reverts. */
  mine(...calls: ContractCall[]): LocalBlock {
    const number = this.blocks.length;
    this.time += 12;
    const hash = keccak256(toUtf8Bytes(`block ${number} of fork ${this.#fork} at ${this.time}`));
    const before = this.#contracts.map((contract) => contract.snapshot());
    const context = { sender: this.sender, blockNumber: number, timestamp: this.time };
    const place = { blockNumber: number, blockHash: hash, timestamp: this.time };
    const logs: Log[] = [];
    try {
      for (const [i, call] of calls.entries()) {
        const transactionHash = keccak256(toUtf8Bytes(`${hash} ${i}`));
        const made = this.#at(call.to).execute(call, context);
        for (const log of made)
          logs.push({ address: call.to, ...log, ...place, transactionHash, logIndex: logs.length });
      }
    } catch (error) {
      this.#contracts.forEach((contract, i) => {
        contract.restore(before[i]);
      });
      throw error;
    }
    const states = this.#contracts.map((contract) => contract.snapshot());
    const block = { number, hash, timestamp: this.time, logs, states };
    this.blocks.push(block);
    return block;
  }

  mineMany(count: number): void {
    for (let i = 0; i < count; i += 1) this.mine();
  }

  /** Reverts the last `count` blocks with their state. Blocks mined afterwards have other hashes. */
  takeBack(count: number): void {
    this.blocks.length -= count;
    this.#fork += 1;
    const last = this.blocks.at(-1)!;
    this.#contracts.forEach((contract, i) => {
      contract.restore(last.states[i]);
    });
  }

  async chainId(): Promise<bigint> {
    return this.id;
  }

  async head(): Promise<Block> {
    return (await this.block(this.blocks.length - 1))!;
  }

  async pending(): Promise<PendingBlock | undefined> {
    const timestamp = Math.max(this.time, this.blocks.at(-1)!.timestamp + 1);
    return this.tellsTime ? { number: this.blocks.length, timestamp } : undefined;
  }

  /** The number of the newest block. */
  get height(): number {
    return this.blocks.length - 1;
  }

  async block(number: number): Promise<Block | undefined> {
    const block = this.blocks[number];
    return block && { number, hash: block.hash, timestamp: block.timestamp };
  }

  async logs({ address, from, to, topics = [] }: LogQuery): Promise<Log[]> {
    this.asked.push([from, to]);
    this.beforeLogs();
    if (to - from + 1 > this.mostBlocks) throw new ChainError("RANGE_TOO_LARGE", "too many blocks");
    const matches = (log: Log) =>
      log.address === address && topics.every((topic, i) => topic === null || topic === log.topics[i]);
    return this.blocks.slice(from, to + 1).flatMap(({ logs }) => logs.filter(matches));
  }

  async code(address: string): Promise<string> {
    return this.#contracts.some((contract) => contract.address === address) ? "0x60" : "0x";
  }

  async call({ from = SENDER, to = "", data }: Call, block?: number): Promise<string> {
    if (to === "" && this.validation !== undefined) return this.validation;
    const call = { to, data };
    // As on a real chain, the call of an address without code succeeds, and returns nothing.
    if (to === PERMIT2) return "0x";
    const contract = this.#at(to);
    const state = block === undefined ? undefined : this.blocks[block]?.states[this.#contracts.indexOf(contract)];
    const context = { sender: from, blockNumber: this.height + 1, timestamp: this.time };
    if (state === undefined) return viewOf(contract, call, context);
    const now = contract.snapshot();
    try {
      contract.restore(state);
      return viewOf(contract, call, context);
    } finally {
      contract.restore(now);
    }
  }

  #at(address: string): LocalContract {
    const contract = this.#contracts.find((candidate) => candidate.address === address);
    if (contract === undefined) throw new ChainError("NODE_ERROR", `no contract at ${address}`);
    return contract;
  }
}

/** Executes a view function; reverts if the contract does not have it. */
function viewOf(contract: LocalContract, call: ContractCall, context: CallContext): string {
  try {
    return contract.view(call, context);
  } catch {
    throw new CallReverted("0x");
  }
}
