import { createErrorClass } from "@sotto/protocol";
import type { SERVER_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link ServerError}. */
export type ServerErrorCode = keyof typeof SERVER_ERRORS;

/** An error of the HTTP server. */
export const ServerError = /* @__PURE__ */ createErrorClass<typeof SERVER_ERRORS>("ServerError");
export type ServerError = InstanceType<typeof ServerError>;
