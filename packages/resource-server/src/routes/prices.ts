import { assertAmount, parseDecimalAmount, priceNumber } from "@sotto/protocol";
import { invalidOption } from "../errors.ts";
import type { PaywallRequest, Price, PricedRequest, PriceOf, PriceOptions, RoutePattern } from "./options.ts";
import { matchesExactly, matchesLoosely, type Pattern, parsePattern } from "./pattern.ts";
import type { Target } from "./target.ts";

const HEALTH_ROUTES = ["/health", "/healthz", "/livez", "/readyz"] as const;

/** @throws PaywallError INVALID_OPTION if the type cannot be a price */
function assertPriceType<T extends Price | PriceOf>(price: T, name: string): T {
  if (["string", "bigint", "function"].includes(typeof price)) return price;
  throw invalidOption(
    `${name} must be decimal text such as "0.05", base units as a bigint, or a function, got a ${typeof price}`,
  );
}

/**
 * Converts a price to base units. The 402 body contains it as a JSON number, which must be exact.
 * @throws SottoError INVALID_AMOUNT
 */
export function parsePrice(price: Price, decimals: number): bigint {
  assertPriceType(price, "a price");
  const amount = typeof price === "bigint" ? assertAmount(price, "price") : parseDecimalAmount(price, decimals);
  priceNumber(amount, decimals);
  return amount;
}

interface PricedPattern {
  /** Name of the option, for errors. */
  readonly name: string;
  readonly pattern: Pattern;
  readonly price: Price | PriceOf;
}

/** Finds the price of a request. */
export class Prices {
  readonly #free: readonly Pattern[];
  readonly #routes: readonly PricedPattern[];
  readonly #defaultPrice: Price | PriceOf;
  /** Base units of the fixed prices, parsed once. */
  readonly #amounts = new Map<Price, bigint>();

  /** @throws PaywallError INVALID_OPTION */
  constructor({ price, routes = [], free = HEALTH_ROUTES }: PriceOptions) {
    this.#defaultPrice = assertPriceType(price, "price");
    this.#routes = routes.map((route, i) => {
      const name = `routes[${i}].price`;
      return { name, pattern: parsePattern(route, `routes[${i}]`), price: assertPriceType(route.price, name) };
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

  isFree(method: string, target: Target): boolean {
    return this.#free.some((pattern) => matchesExactly(pattern, method, target));
  }

  /** The price from the options, or from their price function. @throws the function's errors */
  async of(request: PaywallRequest, target: Target): Promise<Price | "free"> {
    const route = this.#routes.find(({ pattern }) => matchesLoosely(pattern, request.method, target));
    const price = route?.price ?? this.#defaultPrice;
    return typeof price === "function" ? price(pricedRequest(request, target)) : price;
  }

  /** Base units of a price from `of`. @throws SottoError INVALID_AMOUNT; PaywallError INVALID_OPTION */
  amount(price: Price, decimals: number): bigint {
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
