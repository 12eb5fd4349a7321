// `@sotto/origins/service`: origins as a condition of payments, and a mirror of curators' heads, for services.
export { ORIGIN_HEAD_ERRORS } from "./heads/error-definitions.ts";
export { OriginHeadError, type OriginHeadErrorCode } from "./heads/errors.ts";
export { ORIGIN_SERVICE_ERRORS } from "./service/error-definitions.ts";
export { OriginServiceError } from "./service/errors.ts";
export { originsExtension } from "./service/extension.ts";
