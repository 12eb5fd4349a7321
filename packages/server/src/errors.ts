import { createErrorClass } from "@sotto/protocol";
import type { SERVER_ERRORS } from "./error-definitions.ts";

export type ServerErrorCode = keyof typeof SERVER_ERRORS;

/** An error of the HTTP server. */
export const ServerError = /* @__PURE__ */ createErrorClass<typeof SERVER_ERRORS>("ServerError");
export type ServerError = InstanceType<typeof ServerError>;
