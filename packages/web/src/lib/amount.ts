import { formatDecimalAmount, parseDecimalAmount, trimPasted } from "@sotto/protocol";

/** Decimals of USDC. The engine refuses a pool whose token has a different number of decimals. */
export const DECIMALS = 6;

/** An amount in base units as "1,234.50": two to six decimals. */
export function formatAmount(amount: bigint): string {
  const sign = amount < 0n ? "\u2212" : "";
  const [whole = "0", fraction = ""] = formatDecimalAmount(amount < 0n ? -amount : amount, DECIMALS).split(".");
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${fraction.padEnd(2, "0")}`;
}

/**
 * Parses an amount that the user typed into base units: "1.5", "1,5" and " 1.50 ".
 * @throws SottoError INVALID_AMOUNT
 */
export const readAmount = (text: string): bigint => parseDecimalAmount(trimPasted(text).replace(",", "."), DECIMALS);
