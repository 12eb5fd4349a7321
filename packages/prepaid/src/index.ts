// `@sotto/prepaid`: prepaid tokens, which are blind RSA signatures (RFC 9474) in the token structure of RFC
// 9578, type 2.
export { epochOf, laterEpoch, redeemsAt, redemptionOf, signsAt } from "./core/epoch.ts";
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
export { PREPAID_PACK_SIZES, type PrepaidPack, prepaidPackLabel, preparePrepaidPack } from "./core/pack.ts";
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
