// What the payment methods of a paywall need of a call: their request headers, their offers, and their response headers.
import { MAX_PROOF_HEADER_LENGTH, parseOffers } from "@sotto/protocol";

/** Key in `_meta` of a call: the headers with which a payment method pays, by name. */
export const HEADERS_KEY = "sotto/payment";
/** Key in `_meta` of a result: the headers that the method adds to a response. */
export const RESPONSE_HEADERS_KEY = "sotto/payment-response";
/** Key in `_meta` of a result that asks for a payment: the offers of methods, as a 402 has them in `payment`. */
export const OFFERS_KEY = "sotto/offers";

const VALUE = /^[!-~](?:[ -~]*[!-~])?$/;

/** Headers of a payment by their names in lower case. */
export type PaymentHeaders = ReadonlyMap<string, string>;

/**
 * Parses the headers of a payment in `_meta`.
 * @param names of the headers that the methods read, in lower case; others are left out
 * @returns undefined if one is malformed or given twice
 */
export function parseHeaders(value: unknown, names: ReadonlySet<string>): PaymentHeaders | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const headers = new Map<string, string>();
  for (const [given, text] of Object.entries(value)) {
    const name = given.toLowerCase();
    if (!names.has(name)) continue;
    if (headers.has(name) || typeof text !== "string") return undefined;
    if (text.length > MAX_PROOF_HEADER_LENGTH || !VALUE.test(text)) return undefined;
    headers.set(name, text);
  }
  return headers;
}

type Json = Readonly<Record<string, unknown>>;

/** The offers in the body of a 402. */
export const offersIn = (body: object): Json => Object.fromEntries(parseOffers(body));

/** The offers in `_meta` of a result, without those that no client accepts. */
export const offersOf = (meta: Json | undefined): Json => offersIn({ payment: meta?.[OFFERS_KEY] ?? {} });

/** `_meta` without the headers of methods: an unspent token is money, so handlers and loggers must not see it. */
export function withoutPayment<T extends { readonly _meta?: Json | undefined }>(call: T): T {
  if (call._meta?.[HEADERS_KEY] === undefined) return call;
  const { [HEADERS_KEY]: _, ...meta } = call._meta;
  return { ...call, _meta: meta };
}
