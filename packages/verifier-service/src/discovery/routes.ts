// x402's GET /discovery/resources.
import {
  X402_BAZAAR,
  X402_PRIVACY,
  X402_SCHEME,
  X402_SCHEME_PRIVACY,
  X402_VERSION,
  x402Network,
} from "@sotto/protocol/x402";
import { type App, errorResponses, ROUTE_CODES } from "@sotto/server";
import { ROUTE_ERRORS } from "../error-definitions.ts";
import type { Discovery } from "./discovery.ts";
import { type ListedResource, MAX_PAGE, ResourcesQuery, ResourcesResponse } from "./schemas.ts";

const DEFAULT_PAGE = 20;

/** The values that all listings of a service have in common. A filter for another value finds nothing. */
const common = (chainId: number): Readonly<Record<string, readonly string[]>> => ({
  type: ["http"],
  scheme: [X402_SCHEME],
  network: [x402Network(BigInt(chainId))],
  extensions: [X402_BAZAAR, X402_PRIVACY],
  privacy: [X402_SCHEME_PRIVACY.class],
});

export function discoveryRoutes(app: App, discovery: Pick<Discovery, "page">, chainId: number): void {
  app.get(
    "/discovery/resources",
    {
      schema: {
        tags: ["payments"],
        summary: "x402 resources that accept payments of this service; only if SOTTO_DISCOVERY is on",
        querystring: ResourcesQuery,
        response: {
          200: ResourcesResponse,
          ...errorResponses(ROUTE_ERRORS, "INVALID_REQUEST", "STORE_UNAVAILABLE", ...ROUTE_CODES),
        },
      },
    },
    async ({ query }, reply) => {
      const limit = Math.min(MAX_PAGE, Number(query.limit ?? DEFAULT_PAGE));
      const offset = Number(query.offset ?? 0);
      const none = Object.entries(common(chainId)).some(([name, values]) => {
        const asked = query[name as keyof ResourcesQuery];
        return asked !== undefined && !values.includes(asked);
      });
      const { total, items } = none ? { total: 0, items: [] } : await discovery.page(query.payTo, limit, offset);
      reply.header("cache-control", "public, max-age=300");
      return {
        x402Version: X402_VERSION,
        items: items.map((item) => JSON.parse(item) as ListedResource),
        pagination: { limit, offset, total },
      };
    },
  );
}
