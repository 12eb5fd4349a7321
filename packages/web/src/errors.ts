import { createErrorClass, type ErrorDetails, SottoError } from "@sotto/protocol";
import type { WEB_ERRORS } from "./error-definitions.ts";

/** An error of the web app. */
export const WebError = /* @__PURE__ */ createErrorClass<typeof WEB_ERRORS>("WebError");

/** An error in the form in which a worker sends it to the page, because class instances cannot be cloned. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details: ErrorDetails;
}

/** Converts any thrown value to a failure. */
export function failureOf(error: unknown): Failure {
  if (error instanceof SottoError) return { code: error.code, message: error.message, details: error.details };
  if (isFailure(error)) return error;
  if (error instanceof DOMException && error.name === "QuotaExceededError")
    return { code: "STORE_FULL", message: "this browser has no room left for the wallet's data", details: {} };
  if (error instanceof DOMException && error.name === "AbortError")
    return { code: "STOPPED", message: "stopped; the same request resumes it", details: {} };
  return { code: "APP_FAILED", message: error instanceof Error ? error.message : String(error), details: {} };
}

function isFailure(value: unknown): value is Failure {
  const { code, message, details } = Object(value) as Record<string, unknown>;
  return typeof code === "string" && typeof message === "string" && typeof details === "object";
}

/** Why the browser does not cache public data that it has read. */
export function uncachedBecause(error: unknown): Failure {
  return { code: "POOL_NOT_KEPT", message: error instanceof Error ? error.message : String(error), details: {} };
}
