/** The standard's reasons by sotto's error codes. */
const STANDARD: Readonly<Record<string, string>> = {
  X402_VERSION_UNSUPPORTED: "invalid_x402_version",
  X402_SCHEME_UNSUPPORTED: "unsupported_scheme",
  X402_NETWORK_UNSUPPORTED: "invalid_network",
  X402_REQUIREMENTS_INVALID: "invalid_payment_requirements",
  X402_PAYLOAD_INVALID: "invalid_payload",
};

/**
 * The standard's reason for a payment that is not settled yet. A client that receives it with a transaction asks again.
 */
export const X402_SETTLEMENT_PENDING = "settlement_pending";

/**
 * The x402 reason for a code: the standard's if it has one, otherwise the code in lower case, prefixed with the scheme.
 */
export function x402Reason(code: string): string {
  const reason = Object.hasOwn(STANDARD, code) ? STANDARD[code] : undefined;
  return reason ?? `sotto_${String(code).toLowerCase()}`;
}
