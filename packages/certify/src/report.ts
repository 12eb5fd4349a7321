import type { Result } from "./certify.ts";

const sum = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((total, value) => total + value, 0);

/** One line about a certified circuit. */
export function describe({ certificate }: Result): string {
  const { wires, given, results, signs, asserting, unused } = certificate;
  const parts = [
    `${wires} wires determined`,
    `${results.length} of ${given.length + results.length} public signals are results`,
  ];
  if (sum(signs) > 0) parts.push(`${sum(signs)} signs given`);
  if (unused.length > 0) parts.push(`unused inputs: ${unused.join(", ")}`);
  return `${parts.join(", ")}, ${sum(asserting)} asserting constraints`;
}
