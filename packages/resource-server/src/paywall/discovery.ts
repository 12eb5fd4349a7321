// Listings of routes: a listed route's 402 contains its listing, for clients and facilitators.
import { SottoError } from "@sotto/protocol";
import { createX402Listing, type X402Listing, type X402ListingOptions } from "@sotto/protocol/x402";
import { invalidOption } from "../errors.ts";
import { assertFields } from "../option-values.ts";
import { matchesLoosely, type Pattern, parsePattern } from "../routes/pattern.ts";
import type { Target } from "../routes/target.ts";

/**
 * A route for clients to find. If its path has parameters, the listing contains the path as written here, never the
 * requested path.
 */
export interface ListedRoute extends Omit<X402ListingOptions, "routeTemplate"> {
  /** Like the path of a priced route, but without `*`. */
  readonly path: string;
}

/** The fields that a listing adds to the body of a 402: x402's `resource` and `extensions`. */
export interface ListingFields {
  readonly resource: Omit<X402Listing, "extensions"> & { readonly url: string };
  readonly extensions: X402Listing["extensions"];
}

const FIELDS = [
  ...["path", "method", "description", "mimeType", "serviceName", "tags", "iconUrl", "input", "output"],
] as const;

interface Listed {
  readonly pattern: Pattern;
  readonly listing: X402Listing;
}

export class Listings {
  readonly #routes: readonly Listed[];

  /** @throws PaywallError INVALID_OPTION */
  constructor(routes: readonly ListedRoute[] = []) {
    if (!Array.isArray(routes)) throw invalidOption("discovery must be a list of routes");
    this.#routes = routes.map(parseRoute);
  }

  /** The fields of the first route that matches; none if no route does. */
  of(method: string, target: Target, url: string): ListingFields | Record<string, never> {
    const found = this.#routes.find(({ pattern }) => matchesLoosely(pattern, method, target));
    if (found === undefined) return {};
    const { extensions, ...texts } = found.listing;
    return { resource: { url, ...texts }, extensions };
  }
}

function parseRoute(route: ListedRoute, i: number): Listed {
  const name = `discovery[${i}]`;
  if (typeof route !== "object" || route === null) throw invalidOption(`${name} must be an object`);
  assertFields(route, name, FIELDS);
  const { path, ...options } = route;
  const pattern = parsePattern({ path, method: options.method }, name);
  if (pattern.below) throw invalidOption(`${name}.path is ${path}, but a listing needs a path without *`);
  const template = pattern.segments.some((segment) => segment.startsWith(":"));
  try {
    return { pattern, listing: createX402Listing({ ...options, ...(template ? { routeTemplate: path } : {}) }) };
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw invalidOption(`${name}: ${cause.message}`, cause);
  }
}
