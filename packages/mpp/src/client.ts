// `@sotto/mpp/client`: pays at servers that speak MPP, as a paying method of @sotto/client. Runs in browsers.
export { MPP_CLIENT_ERRORS } from "./client/error-definitions.ts";
export { MppClientError, type MppClientErrorCode } from "./client/errors.ts";
export { mpp } from "./client/method.ts";
export type { MppOptions, ReceivedReceipt } from "./client/options.ts";
