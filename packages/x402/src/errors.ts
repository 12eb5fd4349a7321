import { createErrorClass } from "@sotto/protocol";
import type { X402_SCHEME_ERRORS } from "./error-definitions.ts";

/** The codes of an {@link X402SchemeError}. */
export type X402SchemeErrorCode = keyof typeof X402_SCHEME_ERRORS;

/** An error of the scheme's client, resource server or facilitator. */
export const X402SchemeError = /* @__PURE__ */ createErrorClass<typeof X402_SCHEME_ERRORS>("X402SchemeError");
export type X402SchemeError = InstanceType<typeof X402SchemeError>;
