import { createErrorClass, SottoError } from "@sotto/protocol";
import type { PAYWALL_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link PaywallError}. */
export type PaywallErrorCode = keyof typeof PAYWALL_ERRORS;

/** A paywall cannot open. */
export const PaywallError = /* @__PURE__ */ createErrorClass<typeof PAYWALL_ERRORS>("PaywallError");
export type PaywallError = InstanceType<typeof PaywallError>;

/** The error for an option that is wrong. */
export function invalidOption(message: string, cause?: unknown): PaywallError {
  return new PaywallError("INVALID_OPTION", message, {}, { cause });
}

/** Runs `read` and turns its SottoError into INVALID_OPTION. */
export function asOption<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw invalidOption(`${name}: ${cause.message}`, cause);
  }
}

/** The code of an error, for the operator: "UNKNOWN" if it has none. */
export const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "UNKNOWN";
};
