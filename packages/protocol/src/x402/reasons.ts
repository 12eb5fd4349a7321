/** What the standard has a word for, by our code. */
const STANDARD: Readonly<Record<string, string>> = {
  X402_VERSION_UNSUPPORTED: "invalid_x402_version",
  X402_SCHEME_UNSUPPORTED: "unsupported_scheme",
  X402_NETWORK_UNSUPPORTED: "invalid_network",
  X402_REQUIREMENTS_INVALID: "invalid_payment_requirements",
  X402_PAYLOAD_INVALID: "invalid_payload",
};

/** The standard's word for a payment that is on its way: who gets it with a transaction asks again. */
export const X402_SETTLEMENT_PENDING = "settlement_pending";

/** A code as x402 spells reasons: the standard's word, or ours in lower case with the scheme before it. */
export function x402Reason(code: string): string {
  const word = Object.hasOwn(STANDARD, code) ? STANDARD[code] : undefined;
  return word ?? `sotto_${String(code).toLowerCase()}`;
}
