export type { PaymentUse, PaymentUses } from "@sotto/protocol";
export { PAYWALL_ERRORS } from "./error-definitions.ts";
export { PaywallError, type PaywallErrorCode } from "./errors.ts";
export { createPaywall } from "./paywall/create.ts";
export type { ListedRoute } from "./paywall/discovery.ts";
export type {
  Challenge,
  CorsOptions,
  PageOptions,
  PaywallChain,
  PaywallEvent,
  PaywallRecipient,
} from "./paywall/options.ts";
export type {
  Decision,
  Outcome,
  PaidProof,
  PaidToken,
  Payment,
  Paywall,
  PaywallOptions,
  PaywallRequest,
} from "./paywall/types.ts";
export type { PrepaidOptions } from "./prepaid/options.ts";
export type { PrepaidTotals } from "./prepaid/prepaid.ts";
export type { Price, PricedRequest, PricedRoute, PriceOf, RoutePattern } from "./routes/options.ts";
