// `@sotto/prepaid/client`: prepaid tokens as a way to pay of @sotto/client, for programs and browsers.
export { buyPrepaid, restorePrepaid } from "./client/buy.ts";
export {
  type CheckedCharge,
  type CheckedCharges,
  checkCharges,
  keptReceipts,
  keptTerms,
} from "./client/check-charges.ts";
export { PREPAID_ERRORS } from "./client/error-definitions.ts";
export { PrepaidError, type PrepaidErrorCode } from "./client/errors.ts";
export {
  chargeEntries,
  dropPrepaid,
  listCharges,
  listPrepaid,
  type PrepaidChange,
  type PrepaidCharge,
  type PrepaidOrigin,
  type PrepaidPackInfo,
  resumePrepaid,
} from "./client/list.ts";
export { type Merged, type MergeWish, mergePrepaid } from "./client/merge.ts";
export { offeredMeter } from "./client/metered/terms.ts";
export { PrepaidMethod, PrepaidSpender, prepaid } from "./client/method.ts";
export { offeredKey } from "./client/offer.ts";
export type { ChargeEvent, PackEvent, PrepaidOptions } from "./client/options.ts";
export type { PackWish, RestoreOptions } from "./client/packs.ts";
export { type PushedSchedule, type PushedTerms, pushSchedule, pushTerms } from "./client/push.ts";
export type { PackState } from "./client/records.ts";
