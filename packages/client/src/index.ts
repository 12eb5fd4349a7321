export {
  CLIENT_ERRORS,
  FETCH_ERRORS,
  PHONE_PAYMENT_ERRORS,
  PURCHASE_ERRORS,
} from "./error-definitions.ts";
export type { CallPayment } from "./fetch/call.ts";
export type { Challenge } from "./fetch/challenge.ts";
export { FetchError, type FetchErrorCode } from "./fetch/errors.ts";
export {
  type AskedAddress,
  followSchedule,
  type PayableAddress,
  type ScheduleSource,
} from "./fetch/follow-schedule.ts";
export type {
  AnsweredHead,
  CheckedInit,
  OpenMethod,
  OtherChallenge,
  PayingCall,
  PayingCore,
  PayingMethod,
  PayingWallet,
  PaymentProof,
  PrivatePurchase,
  PrivateTerms,
  Tokens,
} from "./fetch/method.ts";
export type { ConfirmPayment, Offer } from "./fetch/offer.ts";
export {
  type PayingFetch,
  type PayingInit,
  parseAttachments,
  privatePayment,
  type WrapOptions,
} from "./fetch/options.ts";
export type { PaymentHeader, SchemeHeader } from "./fetch/payment-header.ts";
export type { Presented, PresentOptions } from "./fetch/present.ts";
export type { ConfirmRecipient, RecipientChange } from "./fetch/recipient.ts";
export { createCheckedRequest } from "./fetch/request.ts";
export { assertSecure } from "./fetch/secure.ts";
export { openMethod, type Quote, quotePayment, wrapFetch } from "./fetch/wrap.ts";
export { type AddressesOptions, type AddressesWallet, signAddresses } from "./phone/addresses.ts";
export { PhonePaymentError, type PhonePaymentErrorCode } from "./phone/errors.ts";
export {
  type BindingOptions,
  type BoundWallet,
  type PhoneLink,
  type SignedBinding,
  signBinding,
  signPhoneLink,
} from "./phone/link.ts";
export type { LookupSigner } from "./phone/lookup.ts";
export type { PhoneRecipient } from "./phone/mapping.ts";
export { phoneNumberOf } from "./phone/number.ts";
export {
  PHONE_HOST,
  type PhonePayment,
  type PhonePaymentRequest,
  type PhonePayOptions,
  payPhone,
} from "./phone/pay.ts";
export { type ChangeOptions, type ConfirmChange, type PhoneChange, type PhonePin, phonePin } from "./phone/pins.ts";
export { assertPhoneMatches, assertRecipientPhone } from "./phone/recipient.ts";
export {
  type FoundPhone,
  type LookUpOptions,
  lookUpPhone,
  type ResolveOptions,
  resolvePhone,
} from "./phone/resolve.ts";
export {
  askedAttachments,
  attach,
  attachedFields,
  chooseNotes,
  longestWait,
  type ShowingPayment,
} from "./purchase/attach.ts";
export type { AttachedPayment, AttachmentRecord, NoteWish, PayingAttachment } from "./purchase/attachment.ts";
export { ChargeCounters } from "./purchase/charges.ts";
export type { PurchaseOptions } from "./purchase/context.ts";
export { PurchaseError, type PurchaseErrorCode } from "./purchase/errors.ts";
export { hashText } from "./purchase/hash.ts";
export {
  assertLimits,
  assertSpendable,
  assertWithinLimit,
  isLimitHost,
  limitHost,
  MAX_LIMITED_HOSTS,
  type Reservation,
  reservationAt,
  type SpendingLeft,
  type SpendingLimits,
  spendingLeft,
  spentOn,
  type ToolLimit,
} from "./purchase/limits.ts";
export { dismissPurchase, type OpenPurchase, openPurchases } from "./purchase/open.ts";
export type { PaidPurchase, Refusal } from "./purchase/paid.ts";
export type { OnProgress, PurchaseProgress, PurchaseStage } from "./purchase/progress.ts";
export { type KeyedRequest, type PurchaseRequest, purchase } from "./purchase/purchase.ts";
export { type PrepareOptions, prepareNotes, type SplitOptions } from "./purchase/split.ts";
export {
  type OpenStateName,
  PURCHASE_STATES,
  type PurchaseState,
  type PurchaseStateName,
} from "./purchase/states.ts";
