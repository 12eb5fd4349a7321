import { FORBIDDEN_KEYS, fieldsOf } from "../object-fields.ts";
import type { PaymentInstructions } from "./instructions.ts";

/**
 * What a 402 offers besides the private payment, by the name of the way to pay. The values are JSON from the server that
 * nobody has checked: the code that knows a way to pay parses its own offer.
 */
export type Offers = ReadonlyMap<string, unknown>;

const MAX_OFFERS = 16;
/** Maximum characters of an offer as JSON. */
const MAX_OFFER_LENGTH = 4096;
const MAX_OFFER_DEPTH = 8;
const NAME = /^[a-z][A-Za-z0-9-]{0,31}$/;

/** The fields of the private payment, which are no offers. */
const TERMS: { readonly [name in keyof PaymentInstructions["payment"]]: true } = {
  method: true,
  recipient: true,
  schedule: true,
  amount: true,
  amountBaseUnits: true,
  currency: true,
  asset: true,
  decimals: true,
  chainId: true,
  pool: true,
  privacy: true,
  zkProof: true,
  verifyEndpoint: true,
  settleEndpoint: true,
};

function isOffer(value: unknown, depth = MAX_OFFER_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  return Object.entries(value).every(([key, inner]) => !FORBIDDEN_KEYS.has(key) && isOffer(inner, depth - 1));
}

/**
 * Finds what the body of a 402 response offers besides the private payment: the first 16 fields of `payment` that can be
 * offers. The name of an offer has 1 to 32 letters, digits and hyphens, with a lower-case letter first. An offer has at most
 * 4,096 characters as JSON, at most 8 levels, and no key such as `__proto__`. Other fields are ignored, as
 * `parseInstructions` ignores all unknown fields.
 * @param json the parsed JSON; limit the length of its text before parsing it
 * @throws SottoError INSTRUCTIONS_INVALID if it has no `payment`
 */
export function parseOffers(json: unknown): Offers {
  const payment = fieldsOf(json, "payment instructions", "INSTRUCTIONS_INVALID")("payment");
  fieldsOf(payment, "payment", "INSTRUCTIONS_INVALID");
  const offers = Object.entries(payment as object).filter(
    ([name, offer]) =>
      !Object.hasOwn(TERMS, name) &&
      NAME.test(name) &&
      !FORBIDDEN_KEYS.has(name) &&
      isOffer(offer) &&
      JSON.stringify(offer).length <= MAX_OFFER_LENGTH,
  );
  return new Map(offers.slice(0, MAX_OFFERS));
}
