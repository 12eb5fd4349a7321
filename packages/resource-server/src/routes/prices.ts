import { assertAmount, parseDecimalAmount, priceNumber } from "@sotto/protocol";
import { invalidOption } from "../errors.ts";
import type {
  FixedQuote,
  PaywallRequest,
  Price,
  PricedRequest,
  PriceOf,
  PriceOptions,
  Quote,
  RoutePattern,
} from "./options.ts";
import { matchesExactly, matchesLoosely, type Pattern, parsePattern } from "./pattern.ts";
import type { Target } from "./target.ts";

const HEALTH_ROUTES = ["/health", "/healthz", "/livez", "/readyz"] as const;

/** @throws PaywallError INVALID_OPTION if the type cannot be a price */
function assertPriceType<T extends Price | Quote | PriceOf>(price: T, name: string): T {
  if (["string", "bigint", "function"].includes(typeof price)) return price;
  if (["string", "bigint"].includes(typeof (Object(price) as Partial<Quote>).amount)) return price;
  throw invalidOption(
    `${name} must be decimal text such as "0.05", base units as a bigint, a quote or a function, got a ${typeof price}`,
  );
}

/** The terms of a price that has terms of its own. */
export const quoteOf = (price: Price | Quote): Quote | undefined => (typeof price === "object" ? price : undefined);

/**
 * Converts a price to base units. The 402 body contains it as a JSON number, which must be exact.
 * @throws SottoError INVALID_AMOUNT; PaywallError INVALID_OPTION
 */
export function parsePrice(price: Price | Quote, decimals: number): bigint {
  assertPriceType(price, "a price");
  const given = quoteOf(price)?.amount ?? (price as Price);
  const amount = typeof given === "bigint" ? assertAmount(given, "price") : parseDecimalAmount(given, decimals);
  priceNumber(amount, decimals);
  return amount;
}

interface PricedPattern {
  /** Name of the option, for errors. */
  readonly name: string;
  readonly route: RoutePattern;
  readonly pattern: Pattern;
  readonly price: Price | Quote | PriceOf;
}

/** Finds the price of a request. */
export class Prices {
  readonly #free: readonly Pattern[];
  readonly #routes: readonly PricedPattern[];
  readonly #defaultPrice: Price | Quote | PriceOf;
  /** Base units of the fixed prices, parsed once. */
  readonly #amounts = new Map<Price | Quote, bigint>();

  /** @throws PaywallError INVALID_OPTION */
  constructor({ price, routes = [], free = HEALTH_ROUTES }: PriceOptions) {
    this.#defaultPrice = assertPriceType(price, "price");
    this.#routes = routes.map((route, i) => {
      const name = `routes[${i}].price`;
      const { path, method = "*" } = route;
      const pattern = parsePattern(route, `routes[${i}]`);
      return { name, route: { path, method }, pattern, price: assertPriceType(route.price, name) };
    });
    this.#free = free.map((one, i) => parsePattern(freePattern(one), `free[${i}]`));
  }

  /** Parses the fixed prices, once the token's decimals are known. @throws PaywallError INVALID_OPTION */
  parse(decimals: number): void {
    for (const { name, price } of [{ name: "price", price: this.#defaultPrice }, ...this.#routes])
      if (typeof price !== "function")
        try {
          this.#amounts.set(price, parsePrice(price, decimals));
        } catch (cause) {
          throw invalidOption(`${name} is not a price: ${(cause as Error).message}`, cause);
        }
  }

  /** The quotes that do not depend on the request. */
  get quotes(): readonly FixedQuote[] {
    return [{ name: "price", route: undefined, price: this.#defaultPrice }, ...this.#routes].flatMap(
      ({ name, route, price }) => (typeof price === "object" ? [{ name, route, quote: price }] : []),
    );
  }

  isFree(method: string, target: Target): boolean {
    return this.#free.some((pattern) => matchesExactly(pattern, method, target));
  }

  /** The price from the options, or from their price function. @throws the function's errors */
  async of(request: PaywallRequest, target: Target): Promise<Price | Quote | "free"> {
    const route = this.#routes.find(({ pattern }) => matchesLoosely(pattern, request.method, target));
    const price = route?.price ?? this.#defaultPrice;
    return typeof price === "function" ? price(pricedRequest(request, target)) : price;
  }

  /** Base units of a price from `of`. @throws SottoError INVALID_AMOUNT; PaywallError INVALID_OPTION */
  amount(price: Price | Quote, decimals: number): bigint {
    return this.#amounts.get(price) ?? parsePrice(price, decimals);
  }
}

/** A path alone is free for GET and HEAD only. */
const freePattern = (one: string | RoutePattern): RoutePattern =>
  typeof one === "string" ? { path: one, method: "GET" } : one;

export const pricedRequest = (request: PaywallRequest, { path, query }: Target): PricedRequest => ({
  method: request.method,
  target: request.target,
  header: (name) => request.header(name),
  path,
  query,
});
