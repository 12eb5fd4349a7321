import { getRandomValues } from "node:crypto";

/** A random number below the bound. Its distribution is within 2^-200 of uniform if the bound is below 2^256. */
export function randomBelow(bound: bigint): bigint {
  const hex = Buffer.from(getRandomValues(new Uint8Array(64))).toString("hex");
  return BigInt(`0x${hex}`) % bound;
}
