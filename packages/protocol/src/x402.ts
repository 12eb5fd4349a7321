// sotto as a payment scheme of x402: the entry @sotto/protocol/x402. docs/x402.md is its specification.

export { X402_ERRORS } from "./error-definitions.ts";
export {
  checkX402Payment,
  checkX402Time,
  parseX402Payload,
  sameX402Terms,
  termsText,
  type X402Mismatch,
  type X402Refusal,
} from "./x402/check.ts";
export { X402Error, type X402ErrorCode } from "./x402/errors.ts";
export {
  createX402Listing,
  isX402NestedAtMost,
  isX402RouteTemplate,
  MAX_X402_LISTING_BYTES,
  MAX_X402_LISTING_DEPTH,
  X402_BAZAAR,
  X402_LISTED_METHODS,
  X402_PRIVACY,
  X402_PRIVACY_EXTENSION,
  X402_SCHEME_PRIVACY,
  type X402Bazaar,
  type X402ListedMethod,
  type X402Listing,
  type X402ListingOptions,
  type X402ListingTexts,
  type X402Privacy,
  x402ListingTexts,
} from "./x402/listing.ts";
export { X402_SETTLEMENT_PENDING, x402Reason } from "./x402/reasons.ts";
export {
  parseX402Network,
  parseX402Terms,
  X402_DYNAMIC_EXTRA,
  X402_SCHEME,
  X402_VERSION,
  type X402Extra,
  type X402Recipient,
  type X402Requirements,
  type X402Terms,
  x402Network,
} from "./x402/terms.ts";
