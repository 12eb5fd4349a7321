/** A block as far as a wallet needs it. `timestamp` is in seconds. */
export interface Block {
  number: number;
  hash: string;
  timestamp: number;
}

/** A log of the pool, still encoded. Hashes, topics and data are lower-case hex with 0x. */
export interface RawLog {
  topics: readonly string[];
  data: string;
  blockNumber: number;
  blockHash: string;
  transactionHash: string;
  logIndex: number;
  /** Time of its block in seconds, where the node tells it with the log: 0, as some nodes say, is none. */
  timestamp?: number | undefined;
}

/** A call to be sent by anyone, or to be asked of a node. */
export interface Call {
  to: string;
  data: string;
}

/** A call to be asked of a node. Without `to`, `data` is creation code: so a contract is asked that is not deployed. */
export type Question = Pick<Call, "data"> & Partial<Pick<Call, "to">>;

/**
 * All that a wallet asks of a chain. Nothing asked tells the node which notes are the wallet's: logs are fetched whole,
 * paths are computed here, and what accounts and receipts say of a payment was kept when its block was read.
 * Implementations throw WalletError NODE_UNREACHABLE, NODE_ERROR, or RANGE_TOO_LARGE where the node refuses to give that
 * many logs at once.
 */
export interface ChainSource {
  chainId(): Promise<bigint>;
  /** Number of the newest block. */
  height(): Promise<number>;
  /** The block of the canonical chain, undefined where there is none (yet). */
  block(number: number): Promise<Block | undefined>;
  /** All logs of `address` in the blocks `from` to `to`, both included, in the order of the chain. */
  logs(address: string, from: number, to: number): Promise<RawLog[]>;
  /** The code at `address`, "0x" where there is none. */
  code(address: string): Promise<string>;
  /** What a call returns, hex; without `to`, what creation code returns. `block` is the state, the newest if left out. */
  call(call: Question, block?: number): Promise<string>;
}
