import { formatDecimalAmount } from "@sotto/protocol";
import type { Config } from "./home/config.ts";

/** An amount for people: "1.25 USDC". */
export function money(amount: bigint, { decimals, symbol }: Config): string {
  return `${formatDecimalAmount(amount, decimals)} ${symbol}`;
}

/** An amount for programs: base units and decimal, both exact. */
export function amountFields(amount: bigint, { decimals }: Config): { amount: string; decimal: string } {
  return { amount: String(amount), decimal: formatDecimalAmount(amount, decimals) };
}

/** A table of what was found, or a line that says that there is nothing. */
export const listed = (rows: readonly (readonly string[])[], nothing: string): string[] =>
  rows.length === 0 ? [nothing] : table(rows);

/** Rows with aligned columns. */
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
