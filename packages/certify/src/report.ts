import type { Result } from "./certify.ts";
import { isProven } from "./theorem.ts";

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

/**
 * "certified": the inputs determine every wire. "outputs": they determine every output, but not every wire. "unknown":
 * neither is shown.
 */
export function verdict({ proof, certificate }: Result): "certified" | "certified up to signs" | "outputs" | "unknown" {
  if (isProven(proof)) return Object.keys(certificate.signs).length === 0 ? "certified" : "certified up to signs";
  const { free, plain, problems } = proof;
  if (problems.length > 0 || plain.outputs === 0) return "unknown";
  return free.some((wire) => wire <= plain.outputs) ? "unknown" : "outputs";
}
