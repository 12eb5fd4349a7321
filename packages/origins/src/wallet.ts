// `@sotto/origins/wallet`: follows the sets of curators for a wallet, and shows the origins of its notes. It runs in browsers and in Node.
export { ORIGIN_ERRORS } from "./wallet/error-definitions.ts";
export { OriginError, type OriginErrorCode } from "./wallet/errors.ts";
export { OPEN_SECONDS, reasonOf, STANDING_REASONS, type Standing, type StandingReason } from "./wallet/membership.ts";
export { type Followed, type FollowOptions, MINIMUM_CROWD, type OriginsWallet } from "./wallet/options.ts";
export { Origins, type OriginsOptions, REMOVAL_LIMIT, type Synced, type SyncSetsOptions } from "./wallet/origins.ts";
export type { SetKey, StoppedRecord } from "./wallet/records.ts";
export type { SpendState } from "./wallet/spends.ts";
export {
  type FollowedStatus,
  type HeadStatus,
  type StandingTotal,
  type StandingTotals,
  totalsOf,
} from "./wallet/status.ts";
export type { RemovalLimit } from "./wallet/sync-set.ts";
