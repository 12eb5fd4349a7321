// Prices that are known only after the request.
import { assertAmount, parseDecimalAmount, SottoError } from "@sotto/protocol";
import { assertFields, invalidOption, type Price, type Quote } from "@sotto/resource-server";
import { assertMeteredRule, type MeteredRule } from "../../index.ts";
import { RequestMeter } from "./meter.ts";

/** What a unit costs. */
export interface UnitPrice {
  /** Price of `per` units: whole tokens as decimal text, or base units as a bigint. */
  readonly price: Price;
  /** 1, 1,000, 1,000,000 or 1,000,000,000. Default: 1. */
  readonly per?: number;
}

/** What the requests of a metered route cost. Each price is decimal text of whole tokens, or base units as a bigint. */
export interface MeteredPrice {
  /** Maximum charge, and the value of the token to show: 1, 2 or 5 times a power of ten, in base units. */
  readonly cap: Price;
  /**
   * Charges are rounded up to it: 1, 2 or 5 times a power of ten, at least cap/100, a divisor of the cap. A coarse grain costs
   * fewer signatures and says less about the payer; a fine one charges more exactly.
   */
  readonly grain: Price;
  /** Price of each request without its units. Default: 0. */
  readonly base?: Price;
  /** The units that the handler counts, by name: 1 to 32 of lower-case letters, digits and underscores. */
  readonly units: Readonly<Record<string, UnitPrice>>;
}

/** Metered prices by their quotes, with the rule for each number of decimals. */
const prices = new WeakMap<Quote, { readonly price: MeteredPrice; readonly rules: Map<number, MeteredRule> }>();

/**
 * The price of a metered route: at most the cap, and exactly what the handler counts with `payment.meter`.
 *
 *     routes: [{ path: "/chat", method: "POST", price: metered({ cap: "0.01", grain: "0.0001", units: { output: { price: "0.6",
 *       per: 1_000_000 } } }) }]
 *
 * Requests paid with a token of the method `meteredCredit` get change. Those paid otherwise pay the cap, and the meter counts up to
 * it.
 * @throws PaywallError INVALID_OPTION
 */
export function metered(price: MeteredPrice): Quote {
  if (typeof price !== "object" || price === null || Array.isArray(price))
    throw invalidOption("metered() takes an object such as { cap, grain, units: { output: { price, per } } }");
  assertFields(price, "metered", ["cap", "grain", "base", "units"]);
  const units = Object.entries(Object(price.units) as MeteredPrice["units"]);
  for (const [name, unit] of units) assertFields(Object(unit) as UnitPrice, `metered.units.${name}`, ["price", "per"]);
  const copy = { ...price, units: Object.fromEntries(units.map(([name, unit]) => [name, { ...unit }])) };
  const quote: Quote = Object.freeze({
    amount: price.cap,
    meter: (_: unknown, { token }: { readonly token: { readonly decimals: number } }) => {
      const meter = new RequestMeter(ruleOfQuote(quote, token.decimals)!);
      return { meter, ended: () => meter.end() };
    },
  });
  prices.set(quote, { price: copy, rules: new Map() });
  return quote;
}

/** The price of a route whose signed terms have this rule. @throws PaywallError INVALID_OPTION */
export const meteredBy = ({ cap, grain, base, units }: MeteredRule): Quote =>
  metered({ cap, grain, base, units: Object.fromEntries(units.map(({ name, ...unit }) => [name, unit])) });

/**
 * The rule of a metered price; undefined for another price.
 * @param decimals of the pool's token
 * @throws PaywallError INVALID_OPTION
 */
export function ruleOfQuote(quote: Quote | undefined, decimals: number): MeteredRule | undefined {
  const found = quote && prices.get(quote);
  if (found === undefined) return undefined;
  const rule = found.rules.get(decimals) ?? parseRule(found.price, decimals);
  found.rules.set(decimals, rule);
  return rule;
}

function parseRule({ cap, grain, base = 0n, units }: MeteredPrice, decimals: number): MeteredRule {
  const amount = (price: Price, name: string) =>
    typeof price === "bigint" ? assertAmount(price, name) : parseDecimalAmount(price, decimals);
  try {
    return assertMeteredRule({
      cap: amount(cap, "cap"),
      grain: amount(grain, "grain"),
      base: amount(base, "base"),
      units: Object.entries(units)
        .map(([name, { price, per = 1 }]) => ({ name, price: amount(price, `the price of ${name}`), per }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    });
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw invalidOption(`metered: ${cause.message}`, cause);
  }
}
