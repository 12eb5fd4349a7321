import { createErrorClass } from "@sotto/protocol";
import type { ORIGIN_CLIENT_ERRORS } from "./error-definitions.ts";

/** The codes of an {@link OriginClientError}. */
export type OriginClientErrorCode = keyof typeof ORIGIN_CLIENT_ERRORS;

/** Thrown when a payment is not made, because it could not show an origin. */
export const OriginClientError = /* @__PURE__ */ createErrorClass<typeof ORIGIN_CLIENT_ERRORS>("OriginClientError");
export type OriginClientError = InstanceType<typeof OriginClientError>;
