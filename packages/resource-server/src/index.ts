export type {
  Challenge,
  PaywallChain,
  PaywallEvent,
  PaywallRecipient,
  Price,
  PricedRequest,
  PricedRoute,
  PriceOf,
  RoutePattern,
} from "./paywall/options.ts";
export type { Decision, PaidProof, Paywall, PaywallOptions, PaywallRequest, RefusalCode } from "./paywall/types.ts";
