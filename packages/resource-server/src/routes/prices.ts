import { expectAmount, parseDecimalAmount, priceNumber } from "@sotto/protocol";
import { invalidOption } from "../errors.ts";
import type { PaywallOptions, Price, PricedRequest, PriceOf, RoutePattern } from "../paywall/options.ts";
import type { PaywallRequest } from "../paywall/request.ts";
import { matchesExactly, matchesLoosely, type Pattern, readPattern } from "./pattern.ts";
import type { Target } from "./target.ts";

const HEALTH_ROUTES = ["/health", "/healthz", "/livez", "/readyz"] as const;

/** Base units of a price, or whoever says it. */
type Amount = bigint | PriceOf;

/**
 * Base units of a price. A JSON number has to say it exactly, because the 402 body has one.
 *
 * @throws SottoError INVALID_AMOUNT
 */
export function readPrice(price: Price, decimals: number): bigint {
  if (typeof price !== "string" && typeof price !== "bigint")
    throw invalidOption(
      `a price must be decimal text such as "0.05", or base units as a bigint, got a ${typeof price}`,
    );
  const amount = typeof price === "bigint" ? expectAmount(price, "price") : parseDecimalAmount(price, decimals);
  priceNumber(amount, decimals);
  return amount;
}

/** What a request costs. */
export class Prices {
  readonly #free: readonly Pattern[];
  readonly #routes: readonly (readonly [Pattern, Amount])[];
  readonly #otherwise: Amount;
  readonly #decimals: number;

  /** @throws PaywallError INVALID_OPTION */
  constructor({ price, routes = [], free = HEALTH_ROUTES }: PaywallOptions, decimals: number) {
    this.#decimals = decimals;
    this.#otherwise = this.#read(price, "price");
    this.#routes = routes.map((route, i) => {
      const where = `routes[${i}]`;
      return [readPattern(route, where), this.#read(route.price, `${where}.price`)] as const;
    });
    this.#free = free.map((one, i) => readPattern(freePattern(one), `free[${i}]`));
  }

  #read(price: Price | PriceOf, name: string): Amount {
    if (typeof price === "function") return price;
    try {
      return readPrice(price, this.#decimals);
    } catch (cause) {
      throw invalidOption(`${name} is no price: ${(cause as Error).message}`, cause);
    }
  }

  isFree(method: string, target: Target): boolean {
    return this.#free.some((pattern) => matchesExactly(pattern, method, target));
  }

  /** Throws what the shop's own function throws, and for what it returns that is no price. */
  async of(request: PaywallRequest, target: Target): Promise<bigint | "free"> {
    const route = this.#routes.find(([pattern]) => matchesLoosely(pattern, request.method, target));
    const amount = route?.[1] ?? this.#otherwise;
    if (typeof amount === "bigint") return amount;
    const price = await amount(pricedRequest(request, target));
    return price === "free" ? price : readPrice(price, this.#decimals);
  }
}

/** A path alone frees reading it: GET and HEAD. */
const freePattern = (one: string | RoutePattern): RoutePattern =>
  typeof one === "string" ? { path: one, method: "GET" } : one;

export const pricedRequest = (request: PaywallRequest, { path, query }: Target): PricedRequest => ({
  method: request.method,
  target: request.target,
  header: (name) => request.header(name),
  path,
  query,
});
