import { Interface } from "ethers";
import { ServiceError } from "../errors/errors.ts";
import type { ChainReader } from "../relayer/chain/reader.ts";
import { askPool } from "./pool.ts";

/** What never changes about the pool, read once at start. */
export interface PoolFacts {
  readonly token: string;
  /** Of the token, for display. */
  readonly decimals: number;
  /** Base units of one deposited note, at least. */
  readonly smallestDeposit: bigint;
  /** EIP-712 domain separator of the token: what deposits are authorized under. */
  readonly tokenDomain: string;
}

const tokenInterface = new Interface([
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function decimals() view returns (uint8)",
]);

/** Each circuit that is verified on chain, and where the pool says its verifier is. */
const VERIFIERS = [
  ["payment", "paymentVerifier"],
  ["withdrawal", "withdrawalVerifier"],
  ["note_append", "noteAppendVerifier"],
] as const;

/**
 * Refuses a pool that is not there, or that verifies under other keys than the service: everything it vouches for would
 * fail on chain.
 * @param verificationKeys as in snarkjs's JSON, by circuit
 * @throws ServiceError CHAIN_UNAVAILABLE, POOL_MISSING, VERIFIER_MISMATCH; RelayerError WRONG_CHAIN
 */
export async function checkPool(
  chain: ChainReader,
  pool: string,
  verificationKeys: Readonly<Record<string, unknown>>,
): Promise<PoolFacts> {
  if ((await code(chain, pool)) === "0x")
    throw new ServiceError(
      "POOL_MISSING",
      `there is no contract at ${pool} on chain ${chain.chainId}; locally: pnpm deploy:local`,
      { pool },
    );
  try {
    for (const [circuit, view] of VERIFIERS) {
      const verifier = String(await askPool(chain, pool, view));
      await checkVerifier(chain, circuit, verifier, keyWords(verificationKeys[circuit]));
    }
    const token = String(await askPool(chain, pool, "token")).toLowerCase();
    const smallestDeposit = BigInt(await askPool(chain, pool, "smallestDeposit"));
    const data = tokenInterface.encodeFunctionData("DOMAIN_SEPARATOR");
    const tokenDomain = await chain.call({ to: token, data });
    const answer = await chain.call({ to: token, data: tokenInterface.encodeFunctionData("decimals") });
    const decimals = Number(tokenInterface.decodeFunctionResult("decimals", answer)[0]);
    return { token, decimals, smallestDeposit, tokenDomain };
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw new ServiceError("POOL_MISSING", `what is at ${pool} is not a ShieldedPool`, { pool }, { cause });
  }
}

async function code(chain: ChainReader, address: string): Promise<string> {
  try {
    return await chain.code(address);
  } catch (cause) {
    const wrongChain = (cause as { code?: unknown }).code === "WRONG_CHAIN";
    if (wrongChain) throw new ServiceError("WRONG_CHAIN", (cause as Error).message, {}, { cause });
    throw new ServiceError(
      "CHAIN_UNAVAILABLE",
      "no node of SOTTO_RPC_URLS answers; locally: pnpm chain",
      {},
      { cause },
    );
  }
}

async function checkVerifier(chain: ChainReader, circuit: string, address: string, expected: readonly bigint[]) {
  const verifier = new Interface([`function verificationKey() view returns (uint256[${expected.length}])`]);
  const mismatch = (cause?: unknown) =>
    new ServiceError(
      "VERIFIER_MISMATCH",
      `the pool's verifier of the circuit ${circuit} has another key than the service's artifacts`,
      { circuit },
      { cause },
    );
  let words: bigint[];
  try {
    const answer = await chain.call({ to: address, data: verifier.encodeFunctionData("verificationKey") });
    words = [...verifier.decodeFunctionResult("verificationKey", answer)[0]];
  } catch (cause) {
    throw mismatch(cause);
  }
  if (words.some((word, index) => word !== expected[index])) throw mismatch();
}

interface KeyJson {
  vk_alpha_1: string[];
  vk_beta_2: string[][];
  vk_gamma_2: string[][];
  vk_delta_2: string[][];
  IC: string[][];
}

/** The key as the verifier contracts give it out: alpha, beta, gamma, delta, IC; G2 with the imaginary part first. */
function keyWords(json: unknown): bigint[] {
  const key = json as KeyJson;
  const g1 = ([x, y]: string[]) => [x!, y!];
  const g2 = ([[x0, x1], [y0, y1]]: [string[], string[]]) => [x1!, x0!, y1!, y0!];
  const pairs = [key.vk_beta_2, key.vk_gamma_2, key.vk_delta_2].flatMap((point) => g2(point as [string[], string[]]));
  return [...g1(key.vk_alpha_1), ...pairs, ...key.IC.flatMap(g1)].map(BigInt);
}
