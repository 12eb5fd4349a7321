import {
  type Chain,
  type ChainError,
  type PoolFacts as ChainPoolFacts,
  isAnotherContract,
  readDecimals,
  readPool,
} from "@sotto/chain";
import { permit2Interface, poolInterface, tokenInterface } from "@sotto/chain/ethers";
import { PERMIT2, parseAddress } from "@sotto/protocol";
import { Interface } from "ethers";
import { ServiceError } from "../errors.ts";

/** Constants of the pool, read once at the start. */
export interface PoolFacts extends ChainPoolFacts {
  /** Decimals of the token. */
  readonly decimals: number;
  /** EIP-712 domain separator of the token, for deposit authorizations; undefined if the token has none. */
  readonly tokenDomain: string | undefined;
  /** Whether the chain has Permit2. */
  readonly hasPermit2: boolean;
}

/** Circuits that are verified on chain, and the pool's getters of their verifiers. */
const VERIFIERS = [
  ["payment", "paymentVerifier"],
  ["withdrawal", "withdrawalVerifier"],
  ["note_append", "noteAppendVerifier"],
] as const;

/**
 * Refuses an address without a pool, and a pool whose verifiers have different keys than the service: every payment that the
 * service verifies would fail there.
 * @param verificationKeys as in snarkjs's JSON, by circuit
 * @throws ServiceError CHAIN_UNAVAILABLE, WRONG_CHAIN, POOL_MISSING, VERIFIER_MISMATCH
 */
export async function assertPool(
  chain: Chain,
  pool: string,
  verificationKeys: Readonly<Record<string, unknown>>,
): Promise<PoolFacts> {
  try {
    const facts = await readPool(chain, parseAddress(pool));
    for (const [circuit, view] of VERIFIERS) {
      const verifier = String(await chain.read(poolInterface, pool, view));
      await assertVerifier(chain, circuit, verifier, keyWords(verificationKeys[circuit]));
    }
    const { token } = facts;
    return {
      ...facts,
      decimals: await readDecimals(chain, token),
      tokenDomain: await readDomain(chain, token),
      hasPermit2: await readPermit2(chain),
    };
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const { code, message } = cause as ChainError;
    if (code === "POOL_NOT_DEPLOYED")
      throw new ServiceError("POOL_MISSING", `${message}; locally: npm run deploy:local`, { pool }, { cause });
    if (code === "POOL_MISMATCH") throw new ServiceError("POOL_MISSING", message, { pool }, { cause });
    if (isAnotherContract(cause))
      throw new ServiceError("POOL_MISSING", `the contract at ${pool} is not a ShieldedPool`, { pool }, { cause });
    if (code === "WRONG_CHAIN") throw new ServiceError(code, message, {}, { cause });
    const why = "no node of SOTTO_RPC_URLS responds; locally: npm run chain";
    throw new ServiceError("CHAIN_UNAVAILABLE", why, {}, { cause });
  }
}

/** Tokens without EIP-712 are accepted: their holders deposit with an approval. */
async function readDomain(chain: Chain, token: string): Promise<string | undefined> {
  try {
    return String(await chain.read(tokenInterface, token, "DOMAIN_SEPARATOR"));
  } catch (cause) {
    if (isAnotherContract(cause)) return undefined;
    throw cause;
  }
}

/** A call of an address without code has an empty result. */
async function readPermit2(chain: Chain): Promise<boolean> {
  const data = permit2Interface.encodeFunctionData("nonceBitmap", [PERMIT2, 0n]);
  return (await chain.call({ to: PERMIT2, data })) !== "0x";
}

async function assertVerifier(chain: Chain, circuit: string, address: string, expected: readonly bigint[]) {
  const verifier = new Interface([`function verificationKey() view returns (uint256[${expected.length}])`]);
  const words = await chain.read(verifier, address, "verificationKey").catch((cause: unknown) => {
    if (isAnotherContract(cause)) return [];
    throw cause;
  });
  if (expected.every((word, index) => word === words[index])) return;
  throw new ServiceError(
    "VERIFIER_MISMATCH",
    `the pool's verifier of the circuit ${circuit} has a different key than the service's artifacts`,
    { circuit },
  );
}

interface KeyJson {
  vk_alpha_1: string[];
  vk_beta_2: string[][];
  vk_gamma_2: string[][];
  vk_delta_2: string[][];
  IC: string[][];
}

/** The key in the order of the verifier contracts: alpha, beta, gamma, delta, IC; G2 with the imaginary part first. */
function keyWords(json: unknown): bigint[] {
  const key = json as KeyJson;
  const g1 = ([x, y]: string[]) => [x!, y!];
  const g2 = ([[x0, x1], [y0, y1]]: [string[], string[]]) => [x1!, x0!, y1!, y0!];
  const pairs = [key.vk_beta_2, key.vk_gamma_2, key.vk_delta_2].flatMap((point) => g2(point as [string[], string[]]));
  return [...g1(key.vk_alpha_1), ...pairs, ...key.IC.flatMap(g1)].map(BigInt);
}
