import { assertChainId, ChainError, type ChainSource, connectChain, type PoolFacts, readPool } from "@sotto/chain";
import {
  type Address,
  assertUint,
  type Deployment,
  defaultFinality,
  MAX_FINALITY,
  parseAddress,
} from "@sotto/protocol";
import { assertAllowedOnChain } from "@sotto/prover";
import { WalletError } from "../errors.ts";

/** The pool a wallet works with: the nodes to ask, and the fields of a deployment's manifest. */
export interface PoolOptions {
  /** Where the chain is read: URLs of JSON-RPC nodes, the preferred one first, or any `ChainSource`. */
  chain: string | readonly string[] | ChainSource;
  /** EIP-155 chain id that is expected of the node. */
  chainId: bigint | number;
  /** Address of the ShieldedPool. */
  pool: string;
  /** Block it was deployed in. */
  deploymentBlock: number;
  /** The token it must hold, where that is known. */
  token?: string;
  /** Set of the keys its verifiers have, where that is known: the prover's must be the same. */
  set?: string;
  /**
   * Blocks on top of an event before it counts, 0 to 1,000: until then a reorganisation may undo it and it is `pending`.
   * Left out: 0 on a local chain, 2 elsewhere.
   */
  finality?: number;
}

/** @throws WalletError INVALID_OPTION */
export function finalityOf({ finality }: PoolOptions, chainId: bigint): number {
  return expectCount(finality ?? defaultFinality(chainId), "finality", 0, MAX_FINALITY);
}

/** The pool as the chain has it. */
export interface PoolInfo extends Deployment, PoolFacts {
  pool: Address;
  deploymentBlock: number;
}

/** An option that has to be a whole number of at least `least`. @throws WalletError INVALID_OPTION */
export function expectCount(value: unknown, name: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least || value > most)
    throw new WalletError(
      "INVALID_OPTION",
      `${name} is ${String(value)}, expected a whole number from ${least} to ${most}`,
    );
  return value;
}

const readChainId = (value: bigint | number): bigint =>
  typeof value === "number" ? BigInt(expectCount(value, "chainId", 1)) : assertUint(value, 256, "chainId");

/** For one answer of a node, ms. */
const NODE_TIMEOUT_MS = 60_000;
/** Larger responses are not read. The logs of a range that has more are asked for in two halves. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** A scan asks many questions: one that fails is asked again, after 250 ms, 500 ms and 1 s. */
const RETRIES = 3;

/** @throws WalletError INVALID_OPTION; ChainError INVALID_OPTION */
function chainOf(chain: PoolOptions["chain"], chainId: bigint): ChainSource {
  if (typeof chain === "string" || Array.isArray(chain))
    return connectChain({
      urls: [chain].flat(),
      chainId,
      timeoutMs: NODE_TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      retries: RETRIES,
    });
  if (typeof chain !== "object" || chain === null) throw new WalletError("INVALID_OPTION", "chain is missing");
  return chain as ChainSource;
}

/** The chain and the pool on it, both checked. */
export interface PoolConnection {
  chain: ChainSource;
  info: PoolInfo;
}

/**
 * Checks chain and pool before anything is read, signed or spent.
 * @throws ChainError NODE_UNREACHABLE, NODE_ERROR, WRONG_CHAIN, POOL_NOT_DEPLOYED, POOL_MISMATCH; WalletError
 *   INVALID_OPTION; SottoError INVALID_ADDRESS
 */
export async function connectPool(options: PoolOptions): Promise<PoolConnection> {
  const pool = parseAddress(options.pool, "pool");
  const token = options.token === undefined ? undefined : parseAddress(options.token, "token");
  const chainId = readChainId(options.chainId);
  const deploymentBlock = expectCount(options.deploymentBlock, "deploymentBlock", 0);
  const chain = chainOf(options.chain, chainId);
  await assertChainId(chain, chainId);
  const info = { chainId, pool, deploymentBlock, ...(await readPool(chain, pool)) };
  if (token !== undefined && token !== info.token)
    throw new ChainError("POOL_MISMATCH", `the pool holds token ${info.token}, expected ${token}`, { pool });
  return { chain, info };
}

/**
 * Whether a prover's keys are those of the pool: it would refuse every proof made with others.
 * @throws WalletError SET_MISMATCH; SottoError DEVELOPMENT_KEYS_REFUSED
 */
export function checkKeys(
  { set: found }: { readonly set: string },
  { set = found }: PoolOptions,
  chainId: bigint,
): void {
  if (found !== set)
    throw new WalletError("SET_MISMATCH", `the prover has keys of ${found}, the pool of ${set}`, {
      found,
      expected: set,
    });
  assertAllowedOnChain(found, chainId);
}
