// What a chat costs. Each start signs prices for three months (credit.ts), and in a month a route has one price: a changed price
// applies from the first month whose price is not signed yet.
import { chargeOf, type MeteredRule } from "@sotto/prepaid";
import { metered } from "@sotto/prepaid/server";

const [INPUT, OUTPUT] = [
  { name: "input", price: 150_000n, per: 1_000_000 },
  { name: "output", price: 600_000n, per: 1_000_000 },
] as const;

/** Base units. The cap is the value of the token that a request shows; charges are rounded up to the grain. */
export const RULE: MeteredRule = { base: 0n, units: [INPUT, OUTPUT], cap: 20_000n, grain: 200n };

export const PRICE = metered({
  cap: RULE.cap,
  grain: RULE.grain,
  base: RULE.base,
  units: Object.fromEntries(RULE.units.map(({ name, price, per }) => [name, { price, per }])),
});

/** How many tokens of output the cap still pays after a prompt. */
export function outputLeft(input: number): number {
  const left = RULE.cap - chargeOf(RULE, { input });
  return Number((left * BigInt(OUTPUT.per)) / OUTPUT.price);
}
