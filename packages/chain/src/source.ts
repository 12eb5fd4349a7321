import { ChainError } from "./errors.ts";
import type { Block, Call, Log, PendingBlock } from "./rpc/values.ts";

/** Selects the logs to return. */
export interface LogQuery {
  /** The contract, lower case. */
  readonly address: string;
  /** First block, included. */
  readonly from: number;
  /** Last block, included. */
  readonly to: number;
  /** Topics by position; null matches every value. Default: all logs of the contract. */
  readonly topics?: readonly (string | null)[] | undefined;
}

/**
 * Everything that a wallet reads from a chain. No request reveals to the node which notes belong to the wallet: the
 * wallet fetches all logs and computes paths in the note tree locally. Create one with `connectChain` (from URLs) or
 * `ethersChain` (from an ethers provider). Implementations throw ChainError NODE_UNREACHABLE, NODE_ERROR, or
 * RANGE_TOO_LARGE if the node refuses that many logs.
 */
export interface ChainSource {
  /** The EIP-155 id of the chain. */
  chainId(): Promise<bigint>;
  /** The newest block. */
  head(): Promise<Block>;
  /** The newest block of all nodes, which are compared now. Sources with a single node do not need it. */
  newest?(): Promise<Block>;
  /** The block of the canonical chain, undefined if there is none (yet). */
  block(number: number): Promise<Block | undefined>;
  /**
   * The block that a node would mine now; undefined if the node does not report it. It distinguishes a chain without new
   * blocks from a clock that is ahead.
   */
  pending?(): Promise<PendingBlock | undefined>;
  /** All logs of a contract in a range of blocks, in the order of the chain. */
  logs(query: LogQuery): Promise<Log[]>;
  /** The code at `address`, "0x" if there is none. `block` is the state; the newest by default. */
  code(address: string, block?: number): Promise<string>;
  /** The result of a call, hex. `block` is the state; the newest by default. */
  call(call: Call, block?: number): Promise<string>;
  /**
   * Runs `action` with one node, so that all its requests go to the same node. Fails over to the next node if that node is
   * at fault or `accept` rejects the result. Sources with a single node do not need it.
   */
  useNode?<T>(action: (node: ChainSource) => Promise<T>, accept?: (answer: T) => boolean): Promise<T>;
}

/** Like `source.useNode`, but also works for sources with a single node. */
export function useNode<T>(
  source: ChainSource,
  action: (node: ChainSource) => Promise<T>,
  accept?: (answer: T) => boolean,
): Promise<T> {
  return source.useNode === undefined ? action(source) : source.useNode(action, accept);
}

/** Like `source.newest`, but also works for sources with a single node. */
export const newestBlock = (source: ChainSource): Promise<Block> => source.newest?.() ?? source.head();

/**
 * Reads the newest state. An answer that is not conclusive ("was never a root", "has no tokens") may only mean that the
 * node is behind. It counts only if a node has the newest block of all nodes and gives the same answer about that block.
 * @param read asks about the state of a block; by default, the node's newest
 * @param isConclusive whether an answer counts even if the node is behind
 * @param reached number of a block that the caller has seen: the node must have this block too
 * @throws ChainError the fault of a node, if the answer is not conclusive and no node has that block
 */
export async function readNewest<T>(
  source: ChainSource,
  read: (node: ChainSource, block?: number) => Promise<T>,
  isConclusive: (answer: T) => boolean,
  reached = 0,
): Promise<T> {
  const answer = await useNode(source, (node) => read(node));
  if (isConclusive(answer)) return answer;
  const { number } = await newestBlock(source);
  return useNode(source, (node) => read(node, Math.max(number, reached)));
}

/** The block with this number. @throws ChainError NODE_INCONSISTENT if the node has none */
export async function readBlock(node: ChainSource, number: number): Promise<Block> {
  const block = await node.block(number);
  if (block === undefined) throw inconsistent(node, `has no block ${number}`);
  return block;
}

/** The error for contradictory responses of a node. The message names nodes of `connectChain` by their host. */
export function inconsistent(node: ChainSource, what: string, cause?: unknown): ChainError {
  const { name = "the node" } = node as { readonly name?: string };
  return new ChainError("NODE_INCONSISTENT", `${name} ${what}`, { node: name }, { cause });
}

/** Checks that a node is on the chain. @throws ChainError WRONG_CHAIN */
export async function assertChainId(chain: ChainSource, chainId: bigint): Promise<void> {
  const found = await chain.chainId();
  if (found !== chainId)
    throw new ChainError("WRONG_CHAIN", `the node is on chain ${found}, expected ${chainId}`, {
      found: String(found),
      expected: String(chainId),
    });
}
