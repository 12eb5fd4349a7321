import { createErrorClass } from "@sotto/protocol";
import type { MPP_CLIENT_ERRORS } from "./error-definitions.ts";

/** The codes of an {@link MppClientError}. */
export type MppClientErrorCode = keyof typeof MPP_CLIENT_ERRORS;

/** A challenge of MPP that the client does not pay. */
export const MppClientError = /* @__PURE__ */ createErrorClass<typeof MPP_CLIENT_ERRORS>("MppClientError");
export type MppClientError = InstanceType<typeof MppClientError>;
