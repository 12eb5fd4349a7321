import { createErrorClass } from "@sotto/protocol";
import type { FETCH_ERRORS } from "../error-definitions.ts";

/** The codes of a {@link FetchError}. */
export type FetchErrorCode = keyof typeof FETCH_ERRORS;

/** Thrown when a request is not paid for. */
export const FetchError = /* @__PURE__ */ createErrorClass<typeof FETCH_ERRORS>("FetchError");
export type FetchError = InstanceType<typeof FetchError>;
