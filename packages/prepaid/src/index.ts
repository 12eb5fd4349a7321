// `@sotto/prepaid`: prepaid tokens, which are blind RSA signatures (RFC 9474) in the token structure of RFC
// 9578, type 2.
export { changeEpochAt, epochOf, laterEpoch, redeemsAt, redemptionOf, signsAt } from "./core/epoch.ts";
export { generatePrepaidKey } from "./core/generate.ts";
export {
  encodePrepaidKey,
  encodeRsaKey,
  PREPAID_EXPONENT,
  PREPAID_KEY_BYTES,
  PREPAID_SPKI_BYTES,
  type PrepaidKey,
  parsePrepaidKey,
  prepaidKey,
} from "./core/key.ts";
export {
  decodePrepaidKeyFile,
  encodePrepaidKeyFile,
  MAX_PREPAID_KEY_FILE_BYTES,
  type PrepaidKeyFile,
  type PrepaidPrivateKey,
  type WirePrepaidKeyFile,
} from "./core/key-file.ts";
export type { PrepaidMerchant, WirePrepaidMerchant } from "./core/merchant.ts";
export {
  assertMeteredValues,
  changeOf,
  MAX_CHANGE_TOKENS,
  meteredValues,
  nextSwap,
  type SwapRecipe,
  swapRecipes,
} from "./core/metered/change.ts";
export {
  type ChangeClaim,
  type ChangeClaimProof,
  changeClaimMessage,
  signChangeClaim,
  type TokenName,
  tokenIdHash,
  verifyChangeClaim,
} from "./core/metered/claim.ts";
export { type Contradiction, contradictions } from "./core/metered/contradictions.ts";
export {
  type ChargeReceipt,
  formatReceipt,
  MAX_RECEIPT_LENGTH,
  parseReceipt,
  receiptMessage,
  type SignedReceipt,
  signReceipt,
  verifyReceipt,
  type WireReceipt,
} from "./core/metered/receipt.ts";
export {
  decodeReceiptKeyFile,
  encodeReceiptKeyFile,
  MAX_RECEIPT_KEY_FILE_BYTES,
  type ReceiptKeyFile,
  type ReceiptSecret,
  receiptKeyOf,
  type WireReceiptKeyFile,
} from "./core/metered/receipt-keys.ts";
export type { MeteredRequest, MeteredRoute } from "./core/metered/route.ts";
export {
  assertMeteredRule,
  chargeOf,
  decodeMeteredRule,
  encodeMeteredRule,
  MAX_METERED_RULE_LENGTH,
  type MeteredRule,
  type MeteredUnit,
  meteredRuleHash,
  type WireMeteredRule,
} from "./core/metered/rule.ts";
export {
  decodeSignedTerms,
  encodeSignedTerms,
  MAX_SIGNED_TERMS_BYTES,
  type SignedMeteredTerms,
  verifyTermsSignature,
  type WireSignedMeteredTerms,
} from "./core/metered/signed-terms.ts";
export {
  assertMeteredTerms,
  decodeMeteredTerms,
  encodeMeteredTerms,
  MAX_METERED_ROUTES,
  type MeteredRouteRule,
  type MeteredTerms,
  meteredEpochs,
  meteredTermsDigest,
  meteredTermsRequest,
  meteredTermsTypedData,
  receiptKeyOfEpoch,
  ruleOfRequest,
  type TermsConflict,
  termsConflict,
  type WireMeteredTerms,
} from "./core/metered/terms.ts";
export { assertUnitCounts, MAX_METERED_UNITS, type UnitCounts } from "./core/metered/units.ts";
export {
  type ChangeAnswer,
  type ChangeRequest,
  changeClaimOf,
  decodeMeteredOffer,
  encodeMeteredOffer,
  formatChangeAnswer,
  formatChangeRequest,
  formatChargeHeader,
  formatSwapAnswer,
  formatSwapRequest,
  formatTermsAnswer,
  MAX_METERED_BODY_BYTES,
  MAX_METERED_TERMS,
  MAX_TERMS_ANSWER_BYTES,
  METERED_CHARGE_HEADER,
  METERED_RULE_HEADER,
  type MeteredOffer,
  PREPAID_CHANGE_PATH,
  PREPAID_SWAP_PATH,
  PREPAID_TERMS_PATH,
  parseChangeAnswer,
  parseChangeRequest,
  parseChargeHeader,
  parseSwapAnswer,
  parseSwapRequest,
  parseTermsAnswer,
  type SwapRequest,
  swapHash,
  type WireMeteredOffer,
} from "./core/metered/wire.ts";
export {
  PREPAID_PACK_SIZES,
  type PrepaidPack,
  type PrepaidPackVersion,
  prepaidPackLabel,
  preparePrepaidPack,
} from "./core/pack.ts";
export {
  decodeSchedule,
  encodeSchedule,
  MAX_PREPAID_EPOCHS,
  type PrepaidSchedule,
  type ScheduledKey,
  scheduleDigest,
  scheduledKeys,
  scheduleRequest,
  scheduleTypedData,
  type WireSchedule,
} from "./core/schedule.ts";
export {
  decodeSignedSchedule,
  encodeSignedSchedule,
  MAX_SIGNED_SCHEDULE_BYTES,
  type SignedSchedule,
  verifyScheduleSignature,
  type WireSignedSchedule,
} from "./core/signed-schedule.ts";
export {
  decodePrepaidToken,
  encodePrepaidToken,
  PREPAID_TOKEN_BYTES,
  PREPAID_TOKEN_LAYOUT,
  type PrepaidToken,
  prepaidChallengeDigest,
  prepaidTokenInput,
} from "./core/token.ts";
export { nonceOfTokenSecret, tokenSecretOf } from "./core/token-key.ts";
export { assertPrepaidValue, isPrepaidValue, MAX_PREPAID_VALUES } from "./core/values.ts";
export {
  decodePrepaidHeader,
  encodePrepaidHeader,
  PREPAID_HEADER,
  PREPAID_KEYS_PATH,
  PREPAID_PATH,
  PREPAID_RECOVER_PATH,
  type PrepaidPurchase,
  parsePrepaidPurchase,
  prepaidPurchaseTarget,
  prepaidRecoverTarget,
} from "./core/wire.ts";
