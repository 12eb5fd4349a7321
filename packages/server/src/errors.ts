import { createErrorClass, SottoError } from "@sotto/protocol";
import type { SERVER_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link ServerError}. */
export type ServerErrorCode = keyof typeof SERVER_ERRORS;

/** An error of the HTTP server. */
export const ServerError = /* @__PURE__ */ createErrorClass<typeof SERVER_ERRORS>("ServerError");
export type ServerError = InstanceType<typeof ServerError>;

/**
 * The code of an error, for logs, metrics and states.
 * @param other the code of an error that has none
 */
export const codeOf = (error: unknown, other = "UNEXPECTED"): string =>
  error instanceof SottoError ? error.code : other;
