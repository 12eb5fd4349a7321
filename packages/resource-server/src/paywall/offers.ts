// Puts the offers of all methods into one 402.
import { parseOffers } from "@sotto/protocol";
import type { Offer, OfferHeaders } from "./method.ts";
import { challenge, mergeHeaders, type Refused } from "./responses.ts";

/**
 * Maximum size of the headers that methods add, bytes. By default nginx reads all headers of a response into a buffer of
 * 4 or 8 KiB and answers 502 if they do not fit. The other headers of a 402 take up to 960 bytes: those of the paywall,
 * with CORS headers of the maximum size, and those that Node and Express add.
 */
const MAX_HEADER_BYTES = 3_136;
/** Headers that a method must not set. */
const OWN = ["www-authenticate", "cache-control", "content-type", "content-length"];

const lineBytes = ([name, value]: readonly [string, string]): number => name.length + value.length + ": \r\n".length;

/** @throws TypeError if a header is invalid or reserved */
function parseHeaders(headers: OfferHeaders, authenticate: readonly string[]): Record<string, string> {
  const parsed: [string, string][] = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  if (parsed.some(([name]) => OWN.includes(name)))
    throw new TypeError("an offer has a header that is the paywall's own");
  if (authenticate.length > 0) parsed.push(["www-authenticate", authenticate.join(", ")]);
  for (const [name, value] of parsed)
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || !/^[\t -~]*$/.test(value))
      throw new TypeError(`an offer's header ${name} is invalid`);
  return Object.fromEntries(parsed);
}

/** The offer as clients will read it. @throws TypeError if they would ignore it */
export function parsePayment(name: string, payment: object): unknown {
  const body: unknown = JSON.parse(JSON.stringify({ payment: { [name]: payment } }));
  const offer = parseOffers(body).get(name);
  if (offer === undefined) throw new TypeError(`the offer of ${name} is too large, or has keys that clients refuse`);
  return offer;
}

/** The offer of a method. */
export interface NamedOffer {
  readonly name: string;
  readonly offer: Offer;
}

/** The offers whose headers adapt to what the others leave come last. */
const adaptsLast = (a: NamedOffer, b: NamedOffer): number =>
  Number(typeof a.offer.headers === "function") - Number(typeof b.offer.headers === "function");

/**
 * The 402 with the paywall's own offer and those of methods.
 * @param asked what attachments ask for, by their names
 * @param onInvalid gets the error of an offer that is invalid or too long, and is left out
 */
export function challengeOf(
  own: Offer,
  others: readonly NamedOffer[],
  asked: Readonly<Record<string, unknown>>,
  onInvalid: (error: unknown) => void,
): Refused {
  const { authenticate = [], body: ownBody = {} } = own;
  let { headers, body } = challenge({});
  headers = { ...headers, "www-authenticate": authenticate.join(", ") };
  const payments: Record<string, unknown> = { ...asked };
  let bytes = 0;
  for (const { name, offer } of [...others].sort(adaptsLast))
    try {
      const { headers: given = {}, authenticate: schemes = [] } = offer;
      const added = parseHeaders(typeof given === "function" ? given(MAX_HEADER_BYTES - bytes) : given, schemes);
      const total = Object.entries(added).reduce((sum, line) => sum + lineBytes(line), bytes);
      if (total > MAX_HEADER_BYTES)
        throw new TypeError(`offers have headers of ${total} bytes, but at most ${MAX_HEADER_BYTES} fit into a 402`);
      if (offer.payment !== undefined) payments[name] = parsePayment(name, offer.payment);
      bytes = total;
      headers = mergeHeaders(headers, added);
      body = { ...body, ...offer.body };
    } catch (error) {
      onInvalid(error);
    }
  body = { ...body, ...ownBody };
  if (Object.keys(payments).length > 0)
    body = { ...body, payment: { ...(body as { payment?: object }).payment, ...payments } };
  return { ...challenge(body), headers };
}
