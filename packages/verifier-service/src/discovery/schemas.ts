import { type Static, Type } from "typebox";

const Text = (maxLength: number, description: string) => Type.String({ maxLength, description });
const Json = (description: string) => Type.Object({}, { additionalProperties: true, description });
const Count = (description: string) => Type.String({ pattern: "^[0-9]{1,6}$", description });

/** Highest number of listings in a response. */
export const MAX_PAGE = 100;

/** The query of x402's discovery endpoint, with the filter `privacy`. */
export const ResourcesQuery = Type.Object({
  type: Type.Optional(Text(16, "http or mcp; this service lists http")),
  payTo: Type.Optional(Text(64, "wallet of the recipient")),
  scheme: Type.Optional(Text(32, "scheme of x402; this service lists sotto")),
  network: Type.Optional(Text(64, "CAIP-2: eip155:CHAIN")),
  extensions: Type.Optional(Text(64, "an extension that listings have: bazaar, privacy")),
  privacy: Type.Optional(
    Text(16, "shielded, confidential, anonymous or public: what an observer learns about a payment"),
  ),
  limit: Type.Optional(Count(`maximum listings of the response; default 20, at most ${MAX_PAGE}`)),
  offset: Type.Optional(Count("number of listings to skip")),
});
export type ResourcesQuery = Static<typeof ResourcesQuery>;

const Terms = Type.Object(
  {
    scheme: Type.String(),
    network: Type.String(),
    asset: Type.String({ description: "address of the pool's token" }),
    amount: Type.String({ description: "price, base units" }),
    payTo: Type.String({ description: "wallet of the recipient" }),
    maxTimeoutSeconds: Type.Integer(),
    extra: Json("pool, decimals, resource and service; the 402 of the resource has all fields"),
  },
  { description: "Payment requirements of x402, without the fields that only a payer needs" },
);

/** A listing. Its texts and JSON are what the host says, never checked: show them as text. */
export const ListedResource = Type.Object(
  {
    resource: Type.String({ description: "URL, with names in place of the variable parts of its path" }),
    type: Type.Literal("http"),
    x402Version: Type.Integer(),
    accepts: Type.Array(Terms),
    lastUpdated: Type.String({ description: "day (UTC) of the last change of the listing, ISO 8601" }),
    description: Type.Optional(Type.String()),
    mimeType: Type.Optional(Type.String()),
    serviceName: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Array(Type.String())),
    iconUrl: Type.Optional(Type.String()),
    extensions: Json("bazaar: method, parameters and examples, with their schema; privacy: what an observer learns"),
  },
  { description: "A resource that accepts payments of this service" },
);
export type ListedResource = Static<typeof ListedResource>;

export const ResourcesResponse = Type.Object({
  x402Version: Type.Integer({ description: "2" }),
  items: Type.Array(ListedResource),
  pagination: Type.Object({ limit: Type.Integer(), offset: Type.Integer(), total: Type.Integer() }),
});
