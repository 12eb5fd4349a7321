import { type Address, type Bytes32, emptyRoots, parseAddress, TREE_DEPTH } from "@sotto/protocol";
import { CallReverted, ChainError } from "../errors.ts";
import type { Log } from "../rpc/values.ts";
import { type ChainSource, inconsistent, useNode } from "../source.ts";
import { poolCalldata, selectorOf } from "./codec.ts";
import { decodeEvent } from "./events.ts";

/** Constants of a pool. */
export interface PoolFacts {
  /** The ERC-20 token of all notes. */
  readonly token: Address;
  /** Smallest amount of a deposited note, base units. */
  readonly smallestDeposit: bigint;
}

/** Where an append starts: at the end of the tree. */
export interface QueueStart {
  /** Number of leaves in the tree, 0 to 2^30: the index of the first queued leaf. */
  readonly appended: number;
  /** Sequence of the checkpoint at which the tree ends, 0 to 2^30; 0 if the tree is empty. */
  readonly lastAppended: number;
}

/** The state of a pool's queue: `INoteTree.QueueState`. */
export interface QueueState extends QueueStart {
  /** Number of leaves ever queued; `appended` of them are in the tree. */
  readonly size: number;
  /** Number of leaves ever queued at the last append. The next one must reach it, or have more than 32 leaves. */
  readonly due: number;
  /** Sequence of the newest checkpoint; those after `lastAppended` are pending. */
  readonly newest: number;
  /** Number of leaves in the newest checkpoint, 0 to 32; 0 if an append ended there. */
  readonly newestLeaves: number;
  /** Time of the blocks that queued them, seconds; 0 if an append ended there. */
  readonly newestTime: number;
}

/** View functions of a pool. `block` selects the state; default: the newest block. */
export interface PoolViews {
  /** Whether a note was spent, by its nullifier. */
  isSpent(nullifier: bigint, block?: number): Promise<boolean>;
  /** Digest of the payment or withdrawal that spent a note; zeros if none did. */
  spentBy(nullifier: bigint, block?: number): Promise<Bytes32>;
  /** Whether this was ever a root of the note tree. */
  isKnownRoot(root: bigint, block?: number): Promise<boolean>;
  /** The root of the note tree. */
  root(block?: number): Promise<bigint>;
  /** The notes that wait to be appended, and the tree's size. */
  queue(block?: number): Promise<QueueState>;
  /** The keccak chain after the last leaf of a checkpoint from `lastAppended` to `newest`. @throws CallReverted for others */
  checkpoint(sequence: number, block?: number): Promise<Bytes32>;
}

/**
 * Reads the state of a pool.
 * @param source the chain
 * @param pool address of the ShieldedPool
 */
export function poolViews(source: ChainSource, pool: Address): PoolViews {
  const one = async (name: string, values: readonly bigint[], block?: number) =>
    (await readWords(source, { to: pool, data: poolCalldata(name, values), name }, 1, block))[0]!;
  return {
    isSpent: async (nullifier, block) => BigInt(await one("isSpent", [nullifier], block)) === 1n,
    spentBy: (nullifier, block) => one("spentBy", [nullifier], block),
    isKnownRoot: async (root, block) => BigInt(await one("isKnownRoot", [root], block)) === 1n,
    root: async (block) => BigInt(await one("root", [], block)),
    async queue(block) {
      const words = await readWords(source, { to: pool, data: poolCalldata("queue", []), name: "queue" }, 7, block);
      const counters = words.map(Number);
      const [size, appended, due, lastAppended, newest, newestLeaves, newestTime] = counters as Counters;
      if (!counters.every(Number.isSafeInteger) || due > size)
        throw inconsistent(source, "returned impossible counters of the queue");
      return { size, appended, due, lastAppended, newest, newestLeaves, newestTime };
    },
    checkpoint: (sequence, block) => one("checkpoint", [BigInt(sequence)], block),
  };
}

/**
 * Reads a pool's constants and checks that its tree is the one that this version proves for. A pool whose tree has
 * another hash, arity or depth would accept no proof.
 * @throws ChainError POOL_NOT_DEPLOYED, POOL_MISMATCH, and faults of nodes
 */
export async function readPool(source: ChainSource, pool: Address): Promise<PoolFacts> {
  const read = async (node: ChainSource): Promise<Bytes32[] | undefined> => {
    if ((await node.code(pool)) === "0x") return undefined;
    const one = async (name: string) =>
      (await readWords(node, { to: pool, data: poolCalldata(name, []), name }, 1))[0]!;
    return Promise.all(["token", "smallestDeposit", "EMPTY_ROOT"].map(one));
  };
  let words: Bytes32[] | undefined;
  try {
    // A node that is behind may not have the contract yet.
    words = await useNode(source, read, (found) => found !== undefined);
  } catch (cause) {
    throw isAnotherContract(cause)
      ? new ChainError("POOL_MISMATCH", `the contract at ${pool} is not a ShieldedPool`, { pool }, { cause })
      : cause;
  }
  if (words === undefined) throw new ChainError("POOL_NOT_DEPLOYED", `there is no contract at ${pool}`, { pool });
  const [token, smallestDeposit, emptyRoot] = words.map(BigInt);
  if (token! >= 1n << 160n || emptyRoot !== emptyRoots()[TREE_DEPTH])
    throw new ChainError("POOL_MISMATCH", `the pool at ${pool} has a different note tree than this version`, { pool });
  return { token: parseAddress(`0x${words[0]!.slice(26)}`), smallestDeposit: smallestDeposit! };
}

/** The decimals of a token. @throws ChainError POOL_MISMATCH if it has no valid `decimals`, and faults of nodes */
export async function readDecimals(source: ChainSource, token: Address): Promise<number> {
  const mismatch = (cause?: unknown) =>
    new ChainError("POOL_MISMATCH", `the contract at ${token} is not a token with decimals`, { token }, { cause });
  try {
    const question = { to: token, data: selectorOf("decimals()"), name: "decimals" };
    const decimals = BigInt((await readWords(source, question, 1))[0]!);
    if (decimals <= 255n) return Number(decimals);
  } catch (cause) {
    throw isAnotherContract(cause) ? mismatch(cause) : cause;
  }
  throw mismatch();
}

/** Whether one of these logs is the pool's event for the settlement of this payment. Malformed logs are ignored. */
export function showsSettled(logs: readonly Log[], pool: Address, nullifier: bigint, digest: string): boolean {
  return logs.some((log) => {
    if (log.address !== pool) return false;
    try {
      const event = decodeEvent(log);
      return event?.type === "settled" && event.nullifier === nullifier && event.digest === digest;
    } catch {
      return false;
    }
  });
}

/** Whether an error means that the contract is not the expected one, and not that the nodes failed. */
export const isAnotherContract = (error: unknown): boolean =>
  error instanceof CallReverted || (error instanceof ChainError && error.code === "NODE_INCONSISTENT");

/** The words of `INoteTree.QueueState`. */
type Counters = [number, number, number, number, number, number, number];

interface ViewCall {
  readonly to: Address;
  readonly data: string;
  /** The function, for errors. */
  readonly name: string;
}

function readWords(source: ChainSource, { to, data, name }: ViewCall, count: number, block?: number) {
  return useNode(source, async (node) => {
    const answer = await node.call({ to, data }, block);
    const words = answer.slice(2).match(/.{64}/g) ?? [];
    if (answer.length !== 2 + 64 * count)
      throw inconsistent(node, `returned ${answer.length / 2 - 1} bytes that are not a result of ${name}`);
    return words.map((word): Bytes32 => `0x${word}`);
  });
}
