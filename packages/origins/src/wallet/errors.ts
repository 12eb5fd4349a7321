import { createErrorClass } from "@sotto/protocol";
import type { ORIGIN_ERRORS } from "./error-definitions.ts";

/** The codes of an {@link OriginError}. */
export type OriginErrorCode = keyof typeof ORIGIN_ERRORS;

/** Thrown when an origin cannot be shown, or a curator's files must not be believed. */
export const OriginError = /* @__PURE__ */ createErrorClass<typeof ORIGIN_ERRORS>("OriginError");
export type OriginError = InstanceType<typeof OriginError>;
