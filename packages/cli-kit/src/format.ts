import { formatDecimalAmount } from "@sotto/protocol";
import type { Config } from "./home/config.ts";

/** Formats an amount for people, for example "1.25 USDC". */
export function money(amount: bigint, { decimals, symbol }: Pick<Config, "decimals" | "symbol">): string {
  return `${formatDecimalAmount(amount, decimals)} ${symbol}`;
}

/** An amount for programs, in base units and as a decimal. */
export function amountFields(
  amount: bigint,
  { decimals }: Pick<Config, "decimals">,
): { amount: string; decimal: string } {
  return { amount: String(amount), decimal: formatDecimalAmount(amount, decimals) };
}

/** How many there are of something: "1 payment", "2 payments". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Formats rows as a table, or returns the line `nothing` if there are none. */
export const listed = (rows: readonly (readonly string[])[], nothing: string): string[] =>
  rows.length === 0 ? [nothing] : table(rows);

/** Aligns the columns. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
