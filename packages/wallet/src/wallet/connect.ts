import {
  abortable,
  assertChainId,
  ChainError,
  type ChainSource,
  connectChain,
  type PoolFacts,
  readPool,
} from "@sotto/chain";
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

/** The pool of a wallet: its nodes, and the fields of the deployment manifest. */
export interface PoolOptions {
  /** URLs of JSON-RPC nodes, the preferred one first, or any `ChainSource`. */
  chain: string | readonly string[] | ChainSource;
  /** Expected EIP-155 chain id. */
  chainId: bigint | number;
  /** Address of the ShieldedPool. */
  pool: string;
  /** The wallet reads the pool's events from this block on. */
  deploymentBlock: number;
  /** Expected token of the pool. Default: any. */
  token?: string | undefined;
  /** Artifact set of the pool's verifiers, which the prover must have too. Default: not checked. */
  set?: string | undefined;
  /**
   * Confirmations, 0 to 1,000: blocks on top of an event before it counts. Until then it is `pending`, because a
   * reorganization may remove it. Default: 0 on a local chain, 2 elsewhere.
   */
  finality?: number | undefined;
  /** Aborts the opening, which then throws its reason; later it has no effect. */
  signal?: AbortSignal | undefined;
}

/** @throws WalletError INVALID_OPTION */
export function finalityOf({ finality }: PoolOptions, chainId: bigint): number {
  return parseCount(finality ?? defaultFinality(chainId), "finality", 0, MAX_FINALITY);
}

/** The pool's facts, read from the chain. */
export interface PoolInfo extends Deployment, PoolFacts {
  pool: Address;
  /** Number of the block in which the pool was deployed; scans begin there. */
  deploymentBlock: number;
}

/** Checks that an option is an integer from `min` to `max`. @throws WalletError INVALID_OPTION */
export function parseCount(value: unknown, name: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max)
    throw new WalletError(
      "INVALID_OPTION",
      `${name} is ${String(value)}, expected a whole number from ${min} to ${max}`,
    );
  return value;
}

/** @throws WalletError INVALID_OPTION; SottoError INVALID_NUMBER */
export const parseChainId = (value: bigint | number): bigint =>
  typeof value === "number" ? BigInt(parseCount(value, "chainId", 1)) : assertUint(value, 256, "chainId");

/** Timeout of one response of a node, ms. */
const NODE_TIMEOUT_MS = 60_000;
/** Maximum bytes of a response. A block range with more logs is halved. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
/** Retries of a failed request during a scan, after 250 ms, 500 ms and 1 s. */
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

/** A chain and the pool on it, both checked. */
export interface PoolConnection {
  chain: ChainSource;
  info: PoolInfo;
}

/**
 * Checks chain and pool before anything else is read, signed or spent.
 * @throws ChainError NODE_UNREACHABLE, NODE_ERROR, WRONG_CHAIN, POOL_NOT_DEPLOYED, POOL_MISMATCH; WalletError
 *   INVALID_OPTION; SottoError INVALID_ADDRESS; the signal's reason
 */
export async function connectPool(options: PoolOptions): Promise<PoolConnection> {
  const pool = parseAddress(options.pool, "pool");
  const token = options.token === undefined ? undefined : parseAddress(options.token, "token");
  const chainId = parseChainId(options.chainId);
  const deploymentBlock = parseCount(options.deploymentBlock, "deploymentBlock", 0);
  const chain = chainOf(options.chain, chainId);
  const opening = abortable(chain, options.signal);
  await assertChainId(opening, chainId);
  const info = { chainId, pool, deploymentBlock, ...(await readPool(opening, pool)) };
  if (token !== undefined && token !== info.token)
    throw new ChainError("POOL_MISMATCH", `the pool holds token ${info.token}, expected ${token}`, { pool });
  return { chain, info };
}

/**
 * Checks that the prover has the pool's artifact set, because the pool rejects proofs of any other set.
 * @throws WalletError SET_MISMATCH; SottoError DEVELOPMENT_KEYS_REFUSED
 */
export function assertKeys(
  { set: found }: { readonly set: string },
  { set = found }: PoolOptions,
  chainId: bigint,
): void {
  if (found !== set)
    throw new WalletError("SET_MISMATCH", `the prover has the artifact set ${found}, but the pool has ${set}`, {
      found,
      expected: set,
    });
  assertAllowedOnChain(found, chainId);
}
