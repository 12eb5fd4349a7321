// Parses results of nodes. Nodes are not trusted, so every malformed result is rejected here.
import { ChainError } from "../errors.ts";

export interface Block {
  number: number;
  hash: string;
  /** Seconds. */
  timestamp: number;
}

export interface Head extends Block {
  /** Wei per unit of gas. */
  baseFee: bigint;
}

/** Gas prices of the newest blocks, oldest first, in wei per unit of gas. */
export interface FeeHistory {
  baseFees: bigint[];
  /** The 10th percentile of the priority fees of each block that has transactions. */
  tips: bigint[];
}

export interface Log {
  address: string;
  topics: readonly string[];
  data: string;
  blockNumber: number;
  blockHash: string;
  transactionHash: string;
  logIndex: number;
  /** Time of its block, seconds; undefined if the node does not return it. Some nodes return 0 instead. */
  timestamp?: number | undefined;
}

export interface Receipt {
  transactionHash: string;
  /** The sender, which paid the gas. */
  from: string;
  blockNumber: number;
  blockHash: string;
  succeeded: boolean;
  gasUsed: bigint;
  /** Wei per unit of gas. */
  gasPrice: bigint;
  /** OP stack chains: fee in wei for the transaction's data on the parent chain; undefined if the node does not return it. */
  dataFee: bigint | undefined;
  logs: Log[];
}

/** Parameters of eth_call. Without `to`, `data` is creation code, which runs a contract that is not deployed. */
export interface Call {
  from?: string;
  to?: string | undefined;
  data: string;
  /** Gas limit, a hex quantity. */
  gas?: string;
}

export const hexNumber = (value: number): string => `0x${value.toString(16)}`;

function wrong(what: string): ChainError {
  return new ChainError("NODE_ERROR", `a node's response has no valid ${what}`);
}

export function readHex(value: unknown, bytes?: number): string {
  const pattern = /^0x([0-9a-f]{2})*$/i;
  if (typeof value !== "string" || !pattern.test(value) || (bytes !== undefined && value.length !== 2 + 2 * bytes))
    throw wrong(bytes === undefined ? "bytes" : `${bytes} bytes`);
  return value.toLowerCase();
}

export function readQuantity(value: unknown): bigint {
  if (typeof value !== "string" || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw wrong("quantity");
  return BigInt(value);
}

export function readNumber(value: unknown): number {
  const number = Number(readQuantity(value));
  if (!Number.isSafeInteger(number)) throw wrong("number below 2^53");
  return number;
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw wrong(what);
  return value as Record<string, unknown>;
}

export function readBlock(value: unknown): Block | undefined {
  if (value === null) return undefined;
  const block = record(value, "block");
  return {
    number: readNumber(block["number"]),
    hash: readHex(block["hash"], 32),
    timestamp: readNumber(block["timestamp"]),
  };
}

export function readHead(value: unknown): Head {
  const block = readBlock(value);
  if (block === undefined) throw wrong("newest block");
  const baseFee = (value as Record<string, unknown>)["baseFeePerGas"];
  return { ...block, baseFee: baseFee === undefined ? 0n : readQuantity(baseFee) };
}

export function readFeeHistory(value: unknown): FeeHistory {
  const history = record(value, "fee history");
  const { baseFeePerGas: fees, gasUsedRatio: used, reward: rewards } = history;
  if (!Array.isArray(fees) || !Array.isArray(used)) throw wrong("fee history");
  // Empty blocks have a priority fee of 0, which says nothing about the current price.
  const paid = Array.isArray(rewards) ? rewards.filter((_, index) => used[index] !== 0) : [];
  return {
    baseFees: fees.map(readQuantity),
    tips: paid.flatMap((reward) => (Array.isArray(reward) && reward.length > 0 ? [readQuantity(reward[0])] : [])),
  };
}

export function readLogs(value: unknown): Log[] {
  if (!Array.isArray(value)) throw wrong("list of logs");
  const logs = value.map((entry) => {
    const log = record(entry, "log");
    const topics = log["topics"];
    if (!Array.isArray(topics)) throw wrong("topics");
    if (log["removed"] === true) throw wrong("canonical log");
    return {
      address: readHex(log["address"], 20),
      topics: topics.map((topic) => readHex(topic, 32)),
      data: readHex(log["data"]),
      blockNumber: readNumber(log["blockNumber"]),
      blockHash: readHex(log["blockHash"], 32),
      transactionHash: readHex(log["transactionHash"], 32),
      logIndex: readNumber(log["logIndex"]),
      timestamp: readTimestamp(log["blockTimestamp"]),
    };
  });
  return logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

/** The time of a log's block is not standardized: some nodes return a plain number, others nothing usable. */
function readTimestamp(value: unknown): number | undefined {
  const number = typeof value === "string" && /^0x[0-9a-f]{1,13}$/i.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

export function readReceipt(value: unknown): Receipt | undefined {
  if (value === null) return undefined;
  const receipt = record(value, "receipt");
  const transactionHash = readHex(receipt["transactionHash"], 32);
  // Some nodes return a receipt without a block for a transaction that is only in their mempool.
  if (receipt["blockHash"] === null || receipt["blockHash"] === undefined) return undefined;
  return {
    transactionHash,
    from: readHex(receipt["from"], 20),
    blockNumber: readNumber(receipt["blockNumber"]),
    blockHash: readHex(receipt["blockHash"], 32),
    succeeded: readQuantity(receipt["status"]) === 1n,
    gasUsed: readQuantity(receipt["gasUsed"]),
    gasPrice: receipt["effectiveGasPrice"] === undefined ? 0n : readQuantity(receipt["effectiveGasPrice"]),
    dataFee: typeof receipt["l1Fee"] === "string" ? readQuantity(receipt["l1Fee"]) : undefined,
    logs: readLogs(receipt["logs"]),
  };
}
