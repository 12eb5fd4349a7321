// What a chat costs. The owner signs the prices of three months at a time (credit.ts), and in a month a route has one price: a changed
// price applies from the first month whose price is not signed yet.
import {
  chargeOf,
  decodeSignedTerms,
  epochOf,
  type MeteredRule,
  meteredEpochs,
  ruleOfRequest,
  type WireSignedMeteredTerms,
} from "@sotto/prepaid";
import { meteredBy } from "@sotto/prepaid/server";
import type { Quote } from "@sotto/resource-server";

/**
 * The price that the owner signs next, in base units. The cap is the value of the token that a request shows; charges are rounded up to
 * the grain. Payers may hold tokens of the earlier cap and grain, which another cap or a finer grain makes useless here. The program
 * counts both units: change their prices, not their names.
 */
export const RULE: MeteredRule = {
  base: 0n,
  units: [
    { name: "input", price: 150_000n, per: 1_000_000 },
    { name: "output", price: 600_000n, per: 1_000_000 },
  ],
  cap: 20_000n,
  grain: 200n,
};

export interface SignedPrice {
  readonly rule: MeteredRule;
  /** The same for the paywall. */
  readonly quote: Quote;
}

/**
 * Returns a function that returns the price of the current month.
 * @param signed the terms of all months, as openCredit returns them
 * @throws Error if the terms of this month do not have the path
 */
export function signedPrices(
  signed: readonly WireSignedMeteredTerms[],
  path: string,
  now: () => number = Date.now,
): () => SignedPrice {
  const prices = signed.flatMap((each) => {
    const { terms } = decodeSignedTerms(each);
    const rule = ruleOfRequest(terms, { method: "POST", target: path });
    return rule === undefined ? [] : [{ months: meteredEpochs(terms), rule, quote: meteredBy(rule) }];
  });
  const find = () => prices.find(({ months }) => months.includes(epochOf(now())));
  if (find() === undefined) throw new Error(`the prices that are signed for ${epochOf(now())} have no POST ${path}`);
  // After the last signed month, the paywall offers no change until the server starts again.
  return () => find() ?? prices.at(-1)!;
}

/** How many tokens of output the cap still pays after a prompt. */
export function outputLeft(rule: MeteredRule, input: number): number {
  const left = rule.cap - chargeOf(rule, { input });
  const { price, per } = rule.units.find(({ name }) => name === "output")!;
  return Number((left * BigInt(per)) / price);
}
