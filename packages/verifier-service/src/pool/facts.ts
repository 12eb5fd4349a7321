import { CallReverted, type Chain, ChainError } from "@sotto/chain";
import { Interface } from "ethers";
import { ServiceError } from "../errors.ts";
import { poolInterface } from "../relayer/calldata.ts";

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
 * @throws ServiceError CHAIN_UNAVAILABLE, WRONG_CHAIN, POOL_MISSING, VERIFIER_MISMATCH
 */
export async function assertPool(
  chain: Chain,
  pool: string,
  verificationKeys: Readonly<Record<string, unknown>>,
): Promise<PoolFacts> {
  const ask = (name: string) => chain.read(poolInterface, pool, name);
  try {
    if ((await chain.code(pool)) === "0x")
      throw new ServiceError(
        "POOL_MISSING",
        `there is no contract at ${pool} on chain ${await chain.chainId()}; locally: npm run deploy:local`,
        { pool },
      );
    for (const [circuit, view] of VERIFIERS)
      await checkVerifier(chain, circuit, String(await ask(view)), keyWords(verificationKeys[circuit]));
    const token = String(await ask("token")).toLowerCase();
    return {
      token,
      decimals: Number(await chain.read(tokenInterface, token, "decimals")),
      smallestDeposit: BigInt(await ask("smallestDeposit")),
      tokenDomain: String(await chain.read(tokenInterface, token, "DOMAIN_SEPARATOR")),
    };
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    if (isAnotherContract(cause))
      throw new ServiceError("POOL_MISSING", `what is at ${pool} is not a ShieldedPool`, { pool }, { cause });
    const { code, message } = cause as ChainError;
    if (code === "WRONG_CHAIN") throw new ServiceError(code, message, {}, { cause });
    const why = "no node of SOTTO_RPC_URLS answers; locally: npm run chain";
    throw new ServiceError("CHAIN_UNAVAILABLE", why, {}, { cause });
  }
}

/** Whether a contract does not answer as the one that was meant would; otherwise the nodes do not answer. */
const isAnotherContract = (error: unknown): boolean =>
  error instanceof CallReverted || (error instanceof ChainError && error.code === "NODE_INCONSISTENT");

async function checkVerifier(chain: Chain, circuit: string, address: string, expected: readonly bigint[]) {
  const verifier = new Interface([`function verificationKey() view returns (uint256[${expected.length}])`]);
  const words = await chain.read(verifier, address, "verificationKey").catch((cause: unknown) => {
    if (isAnotherContract(cause)) return [];
    throw cause;
  });
  if (expected.every((word, index) => word === words[index])) return;
  throw new ServiceError(
    "VERIFIER_MISMATCH",
    `the pool's verifier of the circuit ${circuit} has another key than the service's artifacts`,
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

/** The key as the verifier contracts give it out: alpha, beta, gamma, delta, IC; G2 with the imaginary part first. */
function keyWords(json: unknown): bigint[] {
  const key = json as KeyJson;
  const g1 = ([x, y]: string[]) => [x!, y!];
  const g2 = ([[x0, x1], [y0, y1]]: [string[], string[]]) => [x1!, x0!, y1!, y0!];
  const pairs = [key.vk_beta_2, key.vk_gamma_2, key.vk_delta_2].flatMap((point) => g2(point as [string[], string[]]));
  return [...g1(key.vk_alpha_1), ...pairs, ...key.IC.flatMap(g1)].map(BigInt);
}
