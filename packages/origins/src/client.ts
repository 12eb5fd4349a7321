// `@sotto/origins/client`: shows origins with the payments of @sotto/client, in programs and browsers.
export { type OriginProver, type ShowOriginsOptions, showOrigins } from "./client/attachment.ts";
export { ORIGIN_CLIENT_ERRORS } from "./client/error-definitions.ts";
export { OriginClientError, type OriginClientErrorCode } from "./client/errors.ts";
export { shownSets } from "./client/shown.ts";
export { ORIGIN_HEADER } from "./core/header.ts";
