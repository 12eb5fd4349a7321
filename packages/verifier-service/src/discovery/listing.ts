// Reads listings: how a resource's 402 describes the resource. All of it is untrusted.
import { readStrictJson } from "@sotto/protocol/extend";
import {
  isX402NestedAtMost,
  isX402RouteTemplate,
  MAX_X402_LISTING_BYTES,
  MAX_X402_LISTING_DEPTH,
  parseX402Terms,
  X402_BAZAAR,
  X402_LISTED_METHODS,
  X402_PRIVACY,
  X402_PRIVACY_EXTENSION,
  X402_SCHEME,
  X402_VERSION,
  type X402Terms,
  x402ListingTexts,
  x402Network,
} from "@sotto/protocol/x402";
import type { ListingKey } from "../store/index.ts";
import { checkDeployment, type ServedDeployment } from "../x402/request.ts";
import type { HostAnswer } from "./host.ts";
import { bazaarOf, type Json, NotListed, objectOf } from "./listing-key.ts";
import { matchesSchema } from "./schema-check.ts";
import type { ListedResource } from "./schemas.ts";

/** Maximum payment requirements in a listing. */
const MAX_ACCEPTS = 4;

/** What the catalog shows of a resource. */
export interface Listing {
  readonly key: ListingKey;
  readonly payTo: string;
  readonly item: Omit<ListedResource, "lastUpdated">;
}

/**
 * The content of a resource's 402 that describes the resource. If its path has variable parts, `key` is the template of
 * the path.
 * @param answer the host's response to a request without a payment
 * @throws NotListed if the response is not a 402 that lists this resource
 */
export function readListing({ url, method }: ListingKey, answer: HostAnswer, served: ServedDeployment): Listing {
  const required = decodeRequired(answer);
  const bazaar = bazaarOf(required["extensions"]);
  if (bazaar === undefined) throw new NotListed("the 402 has no extension bazaar");
  const { info, schema, routeTemplate } = bazaar;
  assertInfo(info, schema, method);
  const { origin, pathname } = new URL(url);
  const template = isX402RouteTemplate(routeTemplate) ? routeTemplate : undefined;
  const accepts = acceptsOf(required["accepts"], url, served);
  const [{ wallet: payTo }] = accepts;
  return {
    key: { url: origin + (template ?? pathname), method },
    payTo,
    item: {
      resource: origin + (template ?? pathname),
      type: "http",
      x402Version: X402_VERSION,
      accepts: accepts.map(requirementsOf),
      ...x402ListingTexts(required["resource"]),
      extensions: {
        [X402_BAZAAR]: { info, schema, ...(template === undefined ? {} : { routeTemplate: template }) },
        [X402_PRIVACY]: X402_PRIVACY_EXTENSION,
      },
    },
  };
}

/**
 * Checks a listing of the catalog like one that a host confirms: an earlier version may have accepted it by other rules.
 * @param item JSON as the catalog shows it
 * @throws NotListed
 */
export function assertListed(item: string): void {
  const bazaar = bazaarOf(objectOf(JSON.parse(item))?.["extensions"]);
  const { info, schema } = bazaar ?? {};
  const method = X402_LISTED_METHODS.find((one) => one === objectOf(objectOf(info)?.["input"])?.["method"]);
  if (method === undefined) throw new NotListed("info.input has no method");
  assertInfo(info, schema, method);
}

const refuse = (_: unknown, message: string): never => {
  throw new NotListed(message);
};

/** @throws NotListed */
function decodeRequired({ status, required = "" }: HostAnswer): Json {
  if (status !== 402) throw new NotListed(`the host responded with status ${status} instead of 402`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(required, "base64"));
    // Not the `parseStrictJson` of @sotto/server, because the thread would load the HTTP server with it.
    const parsed = objectOf(readStrictJson(text, "the 402", refuse));
    if (parsed?.["x402Version"] === X402_VERSION) return parsed;
  } catch {
    // Text that is not JSON is treated like JSON of another format.
  }
  throw new NotListed(`the 402 has no PAYMENT-REQUIRED of version ${X402_VERSION}`);
}

/** @throws NotListed */
function assertInfo(info: unknown, schema: unknown, method: string): void {
  const { type, method: own } = objectOf(objectOf(info)?.["input"]) ?? {};
  if (type !== "http" || own !== method) throw new NotListed(`info.input must be of type http, method ${method}`);
  if (objectOf(schema) === undefined) throw new NotListed("schema must be an object");
  if (![info, schema].every((one) => isX402NestedAtMost(one, MAX_X402_LISTING_DEPTH)))
    throw new NotListed(`info and schema must nest at most ${MAX_X402_LISTING_DEPTH} levels deep`);
  const bytes = Buffer.byteLength(JSON.stringify({ info, schema }));
  if (bytes > MAX_X402_LISTING_BYTES)
    throw new NotListed(`info and schema take ${bytes} bytes, at most ${MAX_X402_LISTING_BYTES} are listed`);
  if (refersOutside(schema)) throw new NotListed("schema must not refer to other documents");
  if (!matchesSchema(schema, info)) throw new NotListed("info does not match its schema");
}

const REFERENCES = new Set(["$ref", "$id", "$dynamicRef", "$recursiveRef"]);

/** Whether a schema names another document, which a program that reads the listing might load. */
function refersOutside(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  return Object.entries(schema).some(([key, value]) => {
    const reference = REFERENCES.has(key);
    return (reference && !(typeof value === "string" && value.startsWith("#"))) || refersOutside(value);
  });
}

/** The requirements that this service settles. @throws NotListed if there are none */
function acceptsOf(accepts: unknown, url: string, served: ServedDeployment): [X402Terms, ...X402Terms[]] {
  const found = (Array.isArray(accepts) ? accepts : []).flatMap((one) => {
    const terms = termsOf(one);
    const own = terms !== undefined && isServed(terms, served) && terms.resource === url;
    return own ? [terms] : [];
  });
  const [first] = found;
  if (first === undefined) throw new NotListed("no payment requirements of the 402 are for this service and resource");
  return [first, ...found.slice(1).filter(({ wallet }) => wallet === first.wallet)].slice(0, MAX_ACCEPTS) as never;
}

const isServed = (terms: X402Terms, served: ServedDeployment): boolean =>
  terms.chainId === BigInt(served.config.chainId) && checkDeployment(terms, served) === undefined;

function termsOf(requirements: unknown): X402Terms | undefined {
  try {
    return parseX402Terms(requirements);
  } catch {
    return undefined;
  }
}

/** The requirements without the challenge and the recipient's signature, which only the resource's own 402 contains. */
function requirementsOf(terms: X402Terms): ListedResource["accepts"][number] {
  const { chainId, asset, amount, wallet, maxTimeoutSeconds, pool, decimals, resource, service } = terms;
  return {
    scheme: X402_SCHEME,
    network: x402Network(chainId),
    asset,
    amount: String(amount),
    payTo: wallet,
    maxTimeoutSeconds,
    extra: { pool, decimals, resource, service },
  };
}
