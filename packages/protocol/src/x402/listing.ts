// A listing describes a resource in x402's extension `bazaar`, so that facilitators list it and clients find it, and in
// the extension `privacy`. docs/x402.md specifies both.

import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe } from "../errors.ts";
import { MAX_URL_LENGTH } from "../object-fields.ts";
import { urlOf } from "../wire/base-url.ts";
import { refuse } from "./errors.ts";

/** Name of the extension that lists a resource. */
export const X402_BAZAAR = "bazaar";
/** Name of the extension that states what an observer of the chain learns about a payment. */
export const X402_PRIVACY = "privacy";

/** Methods of resources that a facilitator lists. */
export const X402_LISTED_METHODS = ["GET", "POST"] as const;
/** A method of a listed resource. */
export type X402ListedMethod = (typeof X402_LISTED_METHODS)[number];

/** Maximum size of a listing's extensions, bytes of JSON. A client repeats them in a request header when it pays. */
export const MAX_X402_LISTING_BYTES = 4096;
/** Maximum nesting of schemas and examples. */
export const MAX_X402_LISTING_DEPTH = 12;
/** Maximum length of a description, characters. */
const MAX_DESCRIPTION_LENGTH = 500;
/** x402's limits for the length of a tag or a server's name, characters, and for the number of tags. */
const MAX_NAME_LENGTH = 32;
const MAX_TAGS = 5;

type Json = Readonly<Record<string, unknown>>;

/** The information about a settled payment that an observer of the chain learns. */
export interface X402Privacy {
  /**
   * A summary of the other fields. shielded: amount, payer and recipient are hidden; confidential: only the amount is
   * hidden; anonymous: only the payer, or payer and recipient, are hidden; public: nothing is hidden.
   */
  readonly class: "shielded" | "confidential" | "anonymous" | "public";
  /** Whether an observer learns the amount. */
  readonly amount: "hidden" | "public";
  /** Whether an observer learns who paid. */
  readonly payer: "hidden" | "public";
  /** Whether an observer learns who was paid. */
  readonly recipient: "hidden" | "public";
}

/** The privacy of every payment of this scheme. */
export const X402_SCHEME_PRIVACY: X402Privacy = {
  class: "shielded",
  amount: "hidden",
  payer: "hidden",
  recipient: "hidden",
};

const JSON_SCHEMA = "https://json-schema.org/draft/2020-12/schema";
const VISIBILITY = { type: "string", enum: ["hidden", "public"] };

/** The extension `privacy`: the value as `info`, and its schema, like every x402 extension. */
export const X402_PRIVACY_EXTENSION = {
  info: X402_SCHEME_PRIVACY,
  schema: {
    $schema: JSON_SCHEMA,
    type: "object",
    properties: {
      class: { type: "string", enum: ["shielded", "confidential", "anonymous", "public"] },
      amount: VISIBILITY,
      payer: VISIBILITY,
      recipient: VISIBILITY,
    },
    required: ["class", "amount", "payer", "recipient"],
  },
} as const;

/** A resource that clients can discover. */
export interface X402ListingOptions {
  readonly method: X402ListedMethod;
  /** 1 to 500 characters for people and programs. */
  readonly description: string;
  /** Content type of the response. */
  readonly mimeType?: string;
  /** Name of the resource server, 1 to 32 characters of printable ASCII. */
  readonly serviceName?: string;
  /** Up to 5 words, each 1 to 32 characters of printable ASCII. */
  readonly tags?: readonly string[];
  /** https URL of an icon. */
  readonly iconUrl?: string;
  /**
   * The path with names in place of its variable parts, `/users/:id`. Without it, the listing would contain the paths that
   * clients have paid for.
   */
  readonly routeTemplate?: string;
  /** Query parameters of a GET, or the JSON body of a POST: an example, and its JSON schema (2020-12). */
  readonly input?: { readonly example?: Json; readonly schema?: Json };
  /** The JSON of a response: an example, and its JSON schema. */
  readonly output?: { readonly example: unknown; readonly schema?: Json };
}

/** Describes a resource, as fields of x402's `resource`. */
export interface X402ListingTexts {
  /** 1 to 500 characters without control characters. */
  description?: string;
  /** Content type of the response. */
  mimeType?: string;
  /** Name of the resource server, 1 to 32 characters of printable ASCII. */
  serviceName?: string;
  /** 1 to 5 different words, each 1 to 32 characters of printable ASCII. */
  tags?: string[];
  /** https URL of an icon, at most 2,048 characters. */
  iconUrl?: string;
}

/** A listing as fields of a route of the published packages. */
export interface X402Listing extends X402ListingTexts {
  /** The extensions `bazaar` and `privacy`, together at most 4,096 bytes of JSON. */
  extensions: { [X402_BAZAAR]: X402Bazaar; [X402_PRIVACY]: typeof X402_PRIVACY_EXTENSION };
}

/** The extension `bazaar`. */
export interface X402Bazaar {
  /** Method, example of the input and example of the response. */
  readonly info: Json;
  /** JSON schema of `info`. */
  readonly schema: Json;
  /** The path with names for its variable parts, such as `/users/:id`; absent if the path has none. */
  readonly routeTemplate?: string;
}

const TEXT = /^[^\p{C}]+$/u;
const NAME = /^[ -~]+$/;
const MIME_TYPE = /^[a-z0-9!#$&^_.+-]{1,64}\/[a-z0-9!#$&^_.+-]{1,64}$/;
const ROUTE_TEMPLATE = /^\/[A-Za-z0-9_/:.~-]*$/;

const isText = (value: unknown, form: RegExp, maxLength: number): value is string =>
  typeof value === "string" && value.length <= maxLength && form.test(value);
const isName = (value: unknown): value is string => isText(value, NAME, MAX_NAME_LENGTH);
const isDescription = (value: unknown): value is string => isText(value, TEXT, MAX_DESCRIPTION_LENGTH);
const isMimeType = (value: unknown): value is string => typeof value === "string" && MIME_TYPE.test(value);

/** Whether a value is an https URL of a host with a public name. */
function isIconUrl(value: unknown): value is string {
  const { protocol, hostname = "", username, password } = urlOf(value) ?? {};
  const named = /^(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*\.?$/.test(hostname) && !/(?:^|\.)localhost(?:\.|$)/.test(hostname);
  return protocol === "https:" && username === "" && password === "" && named;
}

/** Whether a value is a path with names for its variable parts. */
export const isX402RouteTemplate = (value: unknown): value is string =>
  isText(value, ROUTE_TEMPLATE, MAX_URL_LENGTH) && !value.includes("..") && !value.includes("//");

/** The valid texts of x402's `resource`. Invalid texts are omitted, and so are tags beyond the fifth. */
export function x402ListingTexts(resource: unknown): X402ListingTexts {
  const { description, mimeType, serviceName, tags, iconUrl } = Object(resource) as Json;
  const names = Array.isArray(tags) ? tags.filter(isName) : [];
  const distinct = names.filter((tag, i) => names.findIndex((other) => sameName(other, tag)) === i).slice(0, MAX_TAGS);
  return {
    ...(isDescription(description) ? { description } : {}),
    ...(isMimeType(mimeType) ? { mimeType } : {}),
    ...(isName(serviceName) ? { serviceName } : {}),
    ...(distinct.length > 0 ? { tags: distinct } : {}),
    ...(isIconUrl(iconUrl) ? { iconUrl } : {}),
  };
}

const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Whether a value is nested at most this deep; a value that is not an object has depth 0. */
export function isX402NestedAtMost(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isX402NestedAtMost(inner, depth - 1));
}

/**
 * The fields that list a route, for the published packages or for a paywall.
 * @throws SottoError X402_LISTING_INVALID
 */
export function createX402Listing(options: X402ListingOptions): X402Listing {
  if (typeof options !== "object" || options === null) invalid("a listing", "an object", options);
  const { method, routeTemplate, input = {}, output } = options;
  assertTexts(options);
  if (!X402_LISTED_METHODS.includes(method)) invalid("method", X402_LISTED_METHODS.join(" or "), method);
  if (routeTemplate !== undefined && !isX402RouteTemplate(routeTemplate))
    invalid("routeTemplate", "a path such as /users/:id", routeTemplate);
  for (const [name, value] of Object.entries({ input, output: output ?? {} })) {
    for (const [part, json] of Object.entries(value))
      if (!isX402NestedAtMost(json, MAX_X402_LISTING_DEPTH - 5))
        invalid(`${name}.${part}`, `at most ${MAX_X402_LISTING_DEPTH - 5} levels deep`, json);
  }
  const extensions = {
    [X402_BAZAAR]: {
      info: infoOf(method, input, output),
      schema: schemaOf(method, input, output),
      ...(routeTemplate === undefined ? {} : { routeTemplate }),
    },
    [X402_PRIVACY]: X402_PRIVACY_EXTENSION,
  };
  const bytes = utf8ToBytes(JSON.stringify(extensions)).length;
  if (bytes > MAX_X402_LISTING_BYTES)
    refuse(
      "X402_LISTING_INVALID",
      `the listing takes ${bytes} bytes, but at most ${MAX_X402_LISTING_BYTES} are allowed; shorten examples and schemas`,
    );
  return { ...x402ListingTexts({ mimeType: "application/json", ...options }), extensions };
}

/** The published packages drop invalid texts. Here they are the merchant's mistake, so this function throws. */
function assertTexts({ description, mimeType, serviceName, tags = [], iconUrl }: X402ListingOptions): void {
  const name = `1 to ${MAX_NAME_LENGTH} characters of printable ASCII`;
  if (!isDescription(description))
    invalid("description", `1 to ${MAX_DESCRIPTION_LENGTH} characters without control characters`, description);
  if (mimeType !== undefined && !isMimeType(mimeType))
    invalid("mimeType", "a content type such as application/json", mimeType);
  if (serviceName !== undefined && !isName(serviceName)) invalid("serviceName", name, serviceName);
  if (!Array.isArray(tags) || tags.length > MAX_TAGS || !tags.every(isName))
    invalid("tags", `a list of at most ${MAX_TAGS} words, each ${name}`, tags);
  if (iconUrl !== undefined && !isIconUrl(iconUrl)) invalid("iconUrl", "an https URL with the name of a host", iconUrl);
}

function invalid(name: string, expected: string, value: unknown): never {
  return refuse("X402_LISTING_INVALID", `${name} must be ${expected}, got ${describe(value)}`);
}

type Input = NonNullable<X402ListingOptions["input"]>;
type Output = X402ListingOptions["output"];

function infoOf(method: X402ListedMethod, { example = {} }: Input, output: Output): Json {
  const input =
    method === "GET"
      ? { type: "http", method, queryParams: example }
      : { type: "http", method, bodyType: "json", body: example };
  return { input, ...(output === undefined ? {} : { output: { type: "json", example: output.example } }) };
}

function schemaOf(method: X402ListedMethod, { schema = { type: "object" } }: Input, output: Output): Json {
  const common = { type: { type: "string", const: "http" }, method: { type: "string", enum: [method] } };
  const properties =
    method === "GET"
      ? { ...common, queryParams: schema, pathParams: { type: "object" } }
      : {
          ...common,
          bodyType: { type: "string", const: "json" },
          body: schema,
          pathParams: { type: "object" },
        };
  const required = method === "GET" ? ["type", "method"] : ["type", "method", "bodyType", "body"];
  const answer = {
    type: "object",
    properties: { type: { type: "string" }, example: output?.schema ?? {} },
    required: ["type"],
  };
  return {
    $schema: JSON_SCHEMA,
    type: "object",
    properties: {
      input: { type: "object", properties, required, additionalProperties: false },
      ...(output === undefined ? {} : { output: answer }),
    },
    required: ["input"],
  };
}
