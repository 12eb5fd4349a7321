import { createErrorClass } from "@sotto/protocol";
import type { SIGNER_ERRORS } from "../error-definitions.ts";

/** The codes of a remote signer's errors. */
export type SignerErrorCode = keyof typeof SIGNER_ERRORS;

/** An error of a remote signer. Its message names the signer's host, and never its credentials. */
export const SignerError = /* @__PURE__ */ createErrorClass<typeof SIGNER_ERRORS>("SignerError");
export type SignerError = InstanceType<typeof SignerError>;
