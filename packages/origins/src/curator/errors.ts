import { createErrorClass } from "@sotto/protocol";
import type { CURATOR_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link CuratorError}. */
export type CuratorErrorCode = keyof typeof CURATOR_ERRORS;

/** An error of a curator. */
export const CuratorError = /* @__PURE__ */ createErrorClass<typeof CURATOR_ERRORS>("CuratorError");
export type CuratorError = InstanceType<typeof CuratorError>;
