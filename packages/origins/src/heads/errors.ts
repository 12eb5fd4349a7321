import { createErrorClass } from "@sotto/protocol";
import type { ORIGIN_HEAD_ERRORS } from "./error-definitions.ts";

/** The codes of an {@link OriginHeadError}. */
export type OriginHeadErrorCode = keyof typeof ORIGIN_HEAD_ERRORS;

/** Thrown when a curator's heads cannot be read, or must not be believed. */
export const OriginHeadError = /* @__PURE__ */ createErrorClass<typeof ORIGIN_HEAD_ERRORS>("OriginHeadError");
export type OriginHeadError = InstanceType<typeof OriginHeadError>;
