// `@sotto/mpp`: the wire formats of MPP, the Machine Payments Protocol, and the terms of its method `sotto`. docs/mpp.md is
// the method's specification. Runs in browsers.
export { PAYMENT_SCHEME, paymentSchemes } from "./core/auth-header.ts";
export {
  challengeBinding,
  encodeChallenge,
  isCharge,
  MAX_CHALLENGE_LENGTH,
  MPP_INTENT,
  MPP_METHOD,
  type MppChallenge,
  parseChallenges,
} from "./core/challenge.ts";
export { encodeCharge, type MppCharge, parseCharge } from "./core/charge.ts";
export {
  CREDENTIAL_HEADER,
  encodeCredential,
  MAX_CREDENTIAL_LENGTH,
  type MppCredential,
  parseCredential,
  proofPayload,
} from "./core/credential.ts";
export { bodyDigest } from "./core/digest.ts";
export { MPP_ERRORS } from "./core/error-definitions.ts";
export { MppError, type MppErrorCode } from "./core/errors.ts";
export { canonicalJson, type Json } from "./core/json.ts";
export {
  challengesFromMcp,
  challengeToMcp,
  credentialFromMcp,
  credentialToMcp,
  MCP_CREDENTIAL_KEY,
  MCP_PAYMENT_REQUIRED,
  MCP_RECEIPT_KEY,
  MCP_VERIFICATION_FAILED,
} from "./core/mcp.ts";
export { type MppProblem, PROBLEM_TYPE, type ProblemDetails, problem } from "./core/problems.ts";
export { encodeReceipt, type MppReceipt, parseReceipt, RECEIPT_HEADER } from "./core/receipt.ts";
