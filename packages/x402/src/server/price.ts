import { parseAddress, parseAmount, parseDecimalAmount } from "@sotto/protocol";
import { X402SchemeError } from "../errors.ts";
import type { Price } from "../types.ts";

export interface Token {
  /** Lower case. */
  readonly asset: string;
  readonly decimals: number;
  readonly symbol: string;
}

/** Such as "$0.10", "0.10" and "0.10 USDC". */
const MONEY = /^\$?\s*([0-9]{1,40}(?:\.[0-9]{1,40})?)(?:\s+([A-Za-z][A-Za-z0-9.]{0,31}))?$/;

/**
 * Converts a price to base units. Never rounds: a price that the token cannot represent exactly is refused.
 * @throws X402SchemeError X402_PRICE_INVALID
 */
export function amountOf(price: Price, token: Token): bigint {
  try {
    const amount = typeof price === "object" ? ofAsset(price, token) : ofMoney(price, token);
    if (amount > 0n) return amount;
  } catch (cause) {
    if (cause instanceof X402SchemeError) throw cause;
    throw new X402SchemeError(
      "X402_PRICE_INVALID",
      `the price is not valid: ${(cause as Error).message}`,
      {},
      { cause },
    );
  }
  throw new X402SchemeError("X402_PRICE_INVALID", "the price is 0, but must be above 0");
}

function ofAsset({ asset, amount }: { readonly asset: string; readonly amount: string }, token: Token): bigint {
  if (parseAddress(asset, "asset") === token.asset) return parseAmount(amount);
  throw new X402SchemeError("X402_PRICE_INVALID", `the price is in ${asset}, but the pool's token is ${token.asset}`);
}

function ofMoney(price: string | number, { decimals, symbol }: Token): bigint {
  // String(number) is what the author typed. Numbers that need an exponent are refused.
  const [, digits, named = "USD"] = MONEY.exec(String(price).trim()) ?? [];
  if (digits === undefined)
    throw new X402SchemeError(
      "X402_PRICE_INVALID",
      `the price must look like "$0.10", "0.10" or "0.10 USDC", got ${String(price)}`,
    );
  if (!["USD", symbol.toUpperCase()].includes(named.toUpperCase()))
    throw new X402SchemeError("X402_PRICE_INVALID", `the price is in ${named}, but the pool's token is ${symbol}`);
  return parseDecimalAmount(digits, decimals);
}
