import { createErrorClass } from "@sotto/protocol";
import type { PREPAID_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link PrepaidError}. */
export type PrepaidErrorCode = keyof typeof PREPAID_ERRORS;

/** Thrown when a pack of prepaid tokens is not bought or a token is not accepted. */
export const PrepaidError = /* @__PURE__ */ createErrorClass<typeof PREPAID_ERRORS>("PrepaidError");
export type PrepaidError = InstanceType<typeof PrepaidError>;
