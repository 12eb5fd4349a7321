import { ChainError, type ChainSource, isNodeFault, readDecimals, readPool } from "@sotto/chain";
import type { Address } from "@sotto/protocol";
import { PaywallError } from "../errors.ts";

/** The token of a pool. */
export interface PoolToken {
  readonly token: Address;
  /** Decimal places of an amount in whole tokens, at most 18. */
  readonly decimals: number;
}

const MAX_DECIMALS = 18;

/** @throws PaywallError POOL_MISMATCH, CHAIN_UNAVAILABLE, WRONG_CHAIN */
export async function readPoolToken(chain: ChainSource, pool: Address): Promise<PoolToken> {
  try {
    const { token } = await readPool(chain, pool);
    const decimals = await readDecimals(chain, token);
    if (decimals > MAX_DECIMALS)
      throw new ChainError(
        "POOL_MISMATCH",
        `the pool's token has ${decimals} decimals, expected at most ${MAX_DECIMALS}`,
      );
    return { token, decimals };
  } catch (cause) {
    if (!(cause instanceof ChainError)) throw cause;
    const { code, message, details } = cause;
    if (code === "WRONG_CHAIN") throw new PaywallError(code, message, details, { cause });
    if (!isNodeFault(cause)) throw new PaywallError("POOL_MISMATCH", message, { pool }, { cause });
    throw new PaywallError(
      "CHAIN_UNAVAILABLE",
      `none of the nodes in chain.rpcUrls answers: ${message}`,
      {},
      { cause },
    );
  }
}
