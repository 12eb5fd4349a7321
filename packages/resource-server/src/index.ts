export type { PaymentUse, PaymentUses } from "@sotto/protocol";
export { createEndReport, reportUnstarted } from "./adapters/end.ts";
export { Gate } from "./checks/gate.ts";
export { PAYWALL_ERRORS } from "./error-definitions.ts";
export { codeOf, invalidOption, PaywallError, type PaywallErrorCode } from "./errors.ts";
export { assertFields, parseInteger } from "./option-values.ts";
export { CheckFailed, CheckUnavailable } from "./outcome.ts";
export type {
  AttachmentCore,
  OpenAttachment,
  PaymentAttachment,
  ShownAttachment,
} from "./paywall/attachment.ts";
export { createPaywall } from "./paywall/create.ts";
export type { ListedRoute } from "./paywall/discovery.ts";
export type { PaywallEvent, PaywallEventNames } from "./paywall/events.ts";
export type {
  Asked,
  MeteredQuote,
  Offer,
  OfferHeaders,
  OfferTerms,
  OpenMethod,
  PaidTerms,
  Passed,
  PaymentMethod,
  PaywallCore,
  PeekBody,
  RequestTerms,
} from "./paywall/method.ts";
export { type AttachmentsOptions, type OwnAttachments, openAttachments } from "./paywall/open-attachments.ts";
export type {
  CorsOptions,
  MonthRecipient,
  PageOptions,
  PaywallChain,
  PaywallOptions,
  PaywallRecipient,
} from "./paywall/options.ts";
export type { PaidAddress } from "./paywall/paid-address.ts";
export type { PoolToken } from "./paywall/pool-token.ts";
export { answered, isPaymentRequired, Refusal, type Refused, refused, wrongMethod } from "./paywall/responses.ts";
export type {
  Decision,
  Meter,
  MethodHeader,
  MethodPath,
  OpenAttachments,
  Outcome,
  PaidProof,
  Payment,
  PaymentAttachments,
  PaymentKinds,
  Paywall,
  PaywallRequest,
  ResponseEnd,
  ShownPayment,
  StartedMeter,
} from "./paywall/types.ts";
export { viewingKeysFile } from "./paywall/viewing-keys-file.ts";
export type { FixedQuote, Price, PricedRequest, PricedRoute, PriceOf, Quote, RoutePattern } from "./routes/options.ts";
export type { Target } from "./routes/target.ts";
