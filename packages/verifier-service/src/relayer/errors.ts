import { createErrorClass, SottoError } from "@sotto/protocol";
import type { RELAYER_ERRORS } from "../error-definitions.ts";

export const RelayerError = /* @__PURE__ */ createErrorClass<typeof RELAYER_ERRORS>("RelayerError");
export type RelayerError = InstanceType<typeof RelayerError>;

/** The code of an error for logs and states. */
export function codeOf(error: unknown): string {
  return error instanceof SottoError ? error.code : "UNEXPECTED";
}
