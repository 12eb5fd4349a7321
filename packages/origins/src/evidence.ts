// Entry `@sotto/origins/evidence`: checks evidence files. It runs in browsers and in Node.
export { EVIDENCE_ERRORS } from "./error-definitions.ts";
export { type AssertEvidenceOptions, assertEvidence, type CheckedEvidence } from "./evidence/check.ts";
export { EvidenceError, type EvidenceErrorCode } from "./evidence/errors.ts";
export { verifyClaim } from "./evidence/verify-claim.ts";
