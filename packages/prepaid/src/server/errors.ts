import { createErrorClass } from "@sotto/protocol";
import type { PREPAID_SERVER_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link PrepaidServerError}. */
export type PrepaidServerErrorCode = keyof typeof PREPAID_SERVER_ERRORS;

/** A server cannot sell or accept prepaid tokens. */
export const PrepaidServerError = /* @__PURE__ */ createErrorClass<typeof PREPAID_SERVER_ERRORS>("PrepaidServerError");
export type PrepaidServerError = InstanceType<typeof PrepaidServerError>;
