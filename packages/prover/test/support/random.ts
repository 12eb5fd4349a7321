import { getRandomValues } from "node:crypto";

/** Uniform below the bound, up to 2^-200. */
export function randomBelow(bound: bigint): bigint {
  const hex = Buffer.from(getRandomValues(new Uint8Array(64))).toString("hex");
  return BigInt(`0x${hex}`) % bound;
}
