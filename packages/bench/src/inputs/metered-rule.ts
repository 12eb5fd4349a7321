import type { MeteredRule } from "@sotto/prepaid";

/** The rule of the metered route: at most 0.01, in steps of a hundredth, as fine as a rule may be. */
export const RULE: MeteredRule = {
  base: 0n,
  units: [{ name: "words", price: 100n, per: 1 }],
  cap: 10_000n,
  grain: 100n,
};
