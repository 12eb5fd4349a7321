// CORS: lets scripts on web pages of other origins send requests and pay.
import { invalidOption } from "../errors.ts";
import { assertFields, isOrigin, parseInteger } from "../option-values.ts";
import type { PaywallRequest } from "../routes/options.ts";
import type { CorsOptions } from "./options.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const FIELDS = ["origins", "methods", "allowedHeaders", "exposedHeaders", "maxAge", "privateNetwork"];
const TOKEN = /^[!#$%&'+.^_`|~0-9A-Za-z-]+$/;
/** Chromium caps longer values at this, seconds. */
const MAX_AGE = 7_200;
/** Maximum length of an origin and the exposed headers together: both are in every 402, whose headers have to stay small. */
const MAX_CHARACTERS = 320;

export interface Cors {
  readonly origins: ReadonlySet<string> | "*";
  /** Set on the response to every preflight from an allowed origin. */
  readonly preflight: Readonly<Record<string, string>>;
  readonly privateNetwork: boolean;
  /** Separated by commas; empty for none. */
  readonly exposedHeaders: string;
}

/** HTTP tokens, without duplicates; "*" is refused, because it does not cover every header. */
function parseTokens(value: unknown, name: string): string[] {
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string" && TOKEN.test(one)))
    throw invalidOption(`${name} must be a list of names, without *`);
  return [...new Set(value as string[])];
}

function parseOrigins(origins: unknown): Cors["origins"] {
  if (origins === "*") return "*";
  if (!Array.isArray(origins) || origins.length === 0 || !origins.every(isOrigin))
    throw invalidOption('cors.origins must be "*" or a list of origins such as https://wallet.example, without a path');
  return new Set(origins);
}

/**
 * @param own the request headers of payments
 * @throws PaywallError INVALID_OPTION
 */
export function parseCors(options: CorsOptions | undefined, own: readonly string[]): Cors | undefined {
  if (options === undefined) return undefined;
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw invalidOption('cors must be an object such as { origins: "*" }');
  assertFields(options, "cors", FIELDS);
  const {
    methods = METHODS,
    allowedHeaders = ["Content-Type"],
    exposedHeaders = [],
    maxAge = MAX_AGE,
    privateNetwork = false,
  } = options;
  if (typeof privateNetwork !== "boolean") throw invalidOption("cors.privateNetwork must be true or false");
  const allowed = parseTokens(allowedHeaders, "cors.allowedHeaders").filter(
    (one) => !own.some((name) => name.toLowerCase() === one.toLowerCase()),
  );
  const origins = parseOrigins(options.origins);
  const exposed = parseTokens(exposedHeaders, "cors.exposedHeaders").join(", ");
  const characters = exposed.length + Math.max(...[...origins].map((origin) => origin.length));
  if (characters > MAX_CHARACTERS)
    throw invalidOption(
      `cors.exposedHeaders and the longest of cors.origins have ${characters} characters together, at most ` +
        `${MAX_CHARACTERS} fit into the headers of a 402`,
    );
  return {
    origins,
    preflight: {
      "access-control-allow-methods": parseTokens(methods, "cors.methods").join(", "),
      "access-control-allow-headers": [...own, ...allowed].join(", "),
      "access-control-max-age": String(parseInteger(maxAge, "cors.maxAge", 0, 86_400)),
    },
    privateNetwork,
    exposedHeaders: exposed,
  };
}

/** Whether this is a preflight: a browser asks if a script may send a request, and then sends the request itself. */
export const isPreflight = (request: PaywallRequest): boolean =>
  request.method === "OPTIONS" &&
  request.header("origin").length > 0 &&
  request.header("access-control-request-method").length > 0;

/** The origin to allow; undefined if the request's origin is not allowed. */
function allowedOrigin({ origins }: Cors, request: PaywallRequest): string | undefined {
  if (origins === "*") return "*";
  const [origin = "", ...more] = request.header("origin");
  return more.length === 0 && origins.has(origin) ? origin : undefined;
}

/** Headers of every response: which origin may read it. Credentials are never allowed. */
function readable(cors: Cors, allowed: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (allowed !== undefined) headers["access-control-allow-origin"] = allowed;
  // A cache must not serve one origin's response to another origin.
  if (cors.origins !== "*") headers["vary"] = "Origin";
  return headers;
}

export function preflightHeaders(cors: Cors, request: PaywallRequest): Record<string, string> {
  const allowed = allowedOrigin(cors, request);
  const headers = readable(cors, allowed);
  if (allowed === undefined) return headers;
  const isPrivate = request.header("access-control-request-private-network").includes("true");
  if (cors.privateNetwork && isPrivate) headers["access-control-allow-private-network"] = "true";
  return { ...headers, ...cors.preflight };
}

export function responseHeaders(cors: Cors, request: PaywallRequest): Record<string, string> {
  const headers = readable(cors, allowedOrigin(cors, request));
  if (cors.exposedHeaders !== "") headers["access-control-expose-headers"] = cors.exposedHeaders;
  return headers;
}
