import {
  assertUint,
  type Deployment,
  defaultFinality,
  emptyRoots,
  MAX_FINALITY,
  parseAddress,
  TREE_DEPTH,
} from "@sotto/protocol";
import { assertAllowedOnChain } from "@sotto/prover";
import type { Interface } from "ethers";
import { poolInterface } from "../chain/abi.ts";
import type { ChainSource } from "../chain/source.ts";
import { WalletError } from "../errors.ts";

/** The pool a wallet works with, and where: beside `chain` the fields of a deployment's manifest. */
export interface PoolOptions {
  chain: ChainSource;
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
export interface PoolInfo extends Deployment {
  token: string;
  /** Smallest amount of a deposited note, base units. */
  smallestDeposit: bigint;
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

/**
 * Looks at the node before anything is read, signed or spent.
 * @throws WalletError NODE_UNREACHABLE, WRONG_CHAIN, POOL_NOT_DEPLOYED, POOL_MISMATCH; SottoError INVALID_ADDRESS
 */
export async function connectPool(options: PoolOptions): Promise<PoolInfo> {
  const pool = parseAddress(options.pool, "pool");
  const token = options.token === undefined ? undefined : parseAddress(options.token, "token");
  const chainId = readChainId(options.chainId);
  const deploymentBlock = expectCount(options.deploymentBlock, "deploymentBlock", 0);
  const { chain } = options;
  const found = await chain.chainId();
  if (found !== chainId)
    throw new WalletError("WRONG_CHAIN", `the node is on chain ${found}, expected ${chainId}`, {
      found: String(found),
      expected: String(chainId),
    });
  if ((await chain.code(pool)) === "0x")
    throw new WalletError("POOL_NOT_DEPLOYED", `there is no contract at ${pool} on chain ${chainId}`, { pool });
  const info = { chainId, pool, deploymentBlock, ...(await readConstants(chain, pool)) };
  if (token !== undefined && token !== info.token)
    throw new WalletError("POOL_MISMATCH", `the pool holds token ${info.token}, expected ${token}`, { pool });
  return info;
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

async function readConstants(chain: ChainSource, pool: string) {
  const view = (name: string) => ask(chain, pool, poolInterface, name, []);
  let values: unknown[];
  try {
    values = await Promise.all(["token", "smallestDeposit", "EMPTY_ROOT"].map(view));
  } catch (cause) {
    if (cause instanceof WalletError && cause.code === "NODE_UNREACHABLE") throw cause;
    throw new WalletError("POOL_MISMATCH", `the contract at ${pool} is not a ShieldedPool`, { pool }, { cause });
  }
  const [token, smallest, emptyRoot] = values;
  // Another hash, arity or depth would show here, and not only when no proof of a spent note is accepted.
  if (emptyRoot !== emptyRoots()[TREE_DEPTH])
    throw new WalletError("POOL_MISMATCH", `the pool at ${pool} has another tree than this version of the wallet`, {
      pool,
    });
  return { token: parseAddress(token), smallestDeposit: BigInt(smallest as bigint) };
}

/** The (first) value a view function returns. @throws WalletError NODE_ERROR also where it returns nothing of the kind */
export async function ask(
  chain: ChainSource,
  to: string,
  abi: Interface,
  name: string,
  parameters: readonly unknown[],
  block?: number,
): Promise<unknown> {
  const data = await chain.call({ to, data: abi.encodeFunctionData(name, parameters) }, block);
  try {
    return abi.decodeFunctionResult(name, data)[0];
  } catch (cause) {
    throw new WalletError("NODE_ERROR", `${to} does not answer ${name}`, {}, { cause });
  }
}
