// Parses results of nodes. Nodes are not trusted, so every malformed result is rejected here.
import { ChainError } from "../errors.ts";

/** The header of a block. */
export interface Block {
  /** Height, from 0. */
  number: number;
  /** 32 bytes, hex with 0x. */
  hash: string;
  /** Seconds. */
  timestamp: number;
}

/** The block that a node would mine now. */
export interface PendingBlock {
  /** Height; undefined on nodes that give a block its number when it is mined. */
  number: number | undefined;
  /** Seconds. */
  timestamp: number;
}

/** The newest block. */
export interface Head extends Block {
  /** Wei per unit of gas. */
  baseFee: bigint;
}

/** Gas prices of the newest blocks, oldest first, in wei per unit of gas. */
export interface FeeHistory {
  /** Base fee of each block, and then of the block after the newest. */
  baseFees: bigint[];
  /** The 10th percentile of the priority fees of each block that has transactions. */
  tips: bigint[];
}

/** An event in the log of a contract. */
export interface Log {
  /** The contract that emitted it, 20 bytes, lower-case hex with 0x. */
  address: string;
  /** At most four words of 32 bytes, hex with 0x; the first one is usually the hash of the event's signature. */
  topics: readonly string[];
  /** ABI-encoded fields that are not indexed, hex with 0x. */
  data: string;
  /** Height of its block. */
  blockNumber: number;
  /** 32 bytes, hex with 0x. */
  blockHash: string;
  /** 32 bytes, hex with 0x. */
  transactionHash: string;
  /** Position among all logs of its block, from 0. */
  logIndex: number;
  /** Time of its block, seconds; undefined if the node does not return it. Some nodes return 0 instead. */
  timestamp?: number | undefined;
}

/** A transaction that a node knows. */
export interface Transaction {
  /** 32 bytes, lower-case hex with 0x. */
  hash: string;
  /** The sender, 20 bytes, lower-case hex with 0x. */
  from: string;
  /** The called account, 20 bytes, lower-case hex with 0x; undefined if the transaction creates a contract. */
  to: string | undefined;
  /** Calldata, hex with 0x. */
  data: string;
}

/** The result of an included transaction. */
export interface Receipt {
  /** 32 bytes, lower-case hex with 0x. */
  transactionHash: string;
  /** The sender, which paid the gas; 20 bytes, lower-case hex with 0x. */
  from: string;
  /** Height of the block that includes it. */
  blockNumber: number;
  /** 32 bytes, lower-case hex with 0x. */
  blockHash: string;
  /** False if the call reverted. The sender pays the gas either way. */
  succeeded: boolean;
  /** Units of gas. */
  gasUsed: bigint;
  /** Wei per unit of gas; 0 if the node does not return it. */
  gasPrice: bigint;
  /** OP stack and Scroll: fee in wei for the transaction's data on the parent chain; undefined if the node does not return it. */
  dataFee: bigint | undefined;
  /** Its events, in order; none if the call reverted. */
  logs: Log[];
}

/** Parameters of eth_call. Without `to`, `data` is creation code, which runs a contract that is not deployed. */
export interface Call {
  /** The account that the contract sees as caller, 20 bytes, hex with 0x; the node chooses one if undefined. */
  from?: string;
  /** The called contract, 20 bytes, hex with 0x. */
  to?: string | undefined;
  /** Calldata, hex with 0x. */
  data: string;
  /** Gas limit, a hex quantity. */
  gas?: string;
}

export const hexNumber = (value: number): string => `0x${value.toString(16)}`;

function wrong(what: string): ChainError {
  return new ChainError("NODE_ERROR", `a node's response has no valid ${what}`);
}

export function parseHex(value: unknown, bytes?: number): string {
  const pattern = /^0x([0-9a-f]{2})*$/i;
  if (typeof value !== "string" || !pattern.test(value) || (bytes !== undefined && value.length !== 2 + 2 * bytes))
    throw wrong(bytes === undefined ? "bytes" : `${bytes} bytes`);
  return value.toLowerCase();
}

export function parseQuantity(value: unknown): bigint {
  if (typeof value !== "string" || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw wrong("quantity");
  return BigInt(value);
}

export function parseNumber(value: unknown): number {
  const number = Number(parseQuantity(value));
  if (!Number.isSafeInteger(number)) throw wrong("number below 2^53");
  return number;
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw wrong(what);
  return value as Record<string, unknown>;
}

export function parseBlock(value: unknown): Block | undefined {
  if (value === null) return undefined;
  const block = record(value, "block");
  return {
    number: parseNumber(block["number"]),
    hash: parseHex(block["hash"], 32),
    timestamp: parseNumber(block["timestamp"]),
  };
}

export function parsePending(value: unknown): PendingBlock | undefined {
  if (value === null) return undefined;
  const { number, timestamp } = record(value, "block");
  return { number: number == null ? undefined : parseNumber(number), timestamp: parseNumber(timestamp) };
}

export function parseHead(value: unknown): Head {
  const block = parseBlock(value);
  if (block === undefined) throw wrong("newest block");
  const baseFee = (value as Record<string, unknown>)["baseFeePerGas"];
  return { ...block, baseFee: baseFee === undefined ? 0n : parseQuantity(baseFee) };
}

export function parseFeeHistory(value: unknown): FeeHistory {
  const history = record(value, "fee history");
  const { baseFeePerGas: fees, gasUsedRatio: used, reward: rewards } = history;
  if (!Array.isArray(fees) || !Array.isArray(used)) throw wrong("fee history");
  // Empty blocks have a priority fee of 0, which says nothing about the current price.
  const paid = Array.isArray(rewards) ? rewards.filter((_, index) => used[index] !== 0) : [];
  return {
    baseFees: fees.map(parseQuantity),
    tips: paid.flatMap((reward) => (Array.isArray(reward) && reward.length > 0 ? [parseQuantity(reward[0])] : [])),
  };
}

export function parseLogs(value: unknown): Log[] {
  if (!Array.isArray(value)) throw wrong("list of logs");
  const logs = value.map((entry) => {
    const log = record(entry, "log");
    const topics = log["topics"];
    if (!Array.isArray(topics)) throw wrong("topics");
    if (log["removed"] === true) throw wrong("canonical log");
    return {
      address: parseHex(log["address"], 20),
      topics: topics.map((topic) => parseHex(topic, 32)),
      data: parseHex(log["data"]),
      blockNumber: parseNumber(log["blockNumber"]),
      blockHash: parseHex(log["blockHash"], 32),
      transactionHash: parseHex(log["transactionHash"], 32),
      logIndex: parseNumber(log["logIndex"]),
      timestamp: parseTimestamp(log["blockTimestamp"]),
    };
  });
  return logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

/** The time of a log's block is not standardized: some nodes return a plain number, others nothing usable. */
function parseTimestamp(value: unknown): number | undefined {
  const number = typeof value === "string" && /^0x[0-9a-f]{1,13}$/i.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

export function parseTransaction(value: unknown): Transaction | undefined {
  if (value === null) return undefined;
  const transaction = record(value, "transaction");
  const { to } = transaction;
  return {
    hash: parseHex(transaction["hash"], 32),
    from: parseHex(transaction["from"], 20),
    to: to === null || to === undefined ? undefined : parseHex(to, 20),
    data: parseHex(transaction["input"]),
  };
}

export function parseReceipt(value: unknown): Receipt | undefined {
  if (value === null) return undefined;
  const receipt = record(value, "receipt");
  const transactionHash = parseHex(receipt["transactionHash"], 32);
  // Some nodes return a receipt without a block for a transaction that is only in their mempool.
  if (receipt["blockHash"] === null || receipt["blockHash"] === undefined) return undefined;
  return {
    transactionHash,
    from: parseHex(receipt["from"], 20),
    blockNumber: parseNumber(receipt["blockNumber"]),
    blockHash: parseHex(receipt["blockHash"], 32),
    succeeded: parseQuantity(receipt["status"]) === 1n,
    gasUsed: parseQuantity(receipt["gasUsed"]),
    gasPrice: receipt["effectiveGasPrice"] === undefined ? 0n : parseQuantity(receipt["effectiveGasPrice"]),
    dataFee: typeof receipt["l1Fee"] === "string" ? parseQuantity(receipt["l1Fee"]) : undefined,
    logs: parseLogs(receipt["logs"]),
  };
}
