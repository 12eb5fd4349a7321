import { createErrorClass } from "@sotto/protocol";
import type { EVIDENCE_ERRORS } from "../error-definitions.ts";

/** The codes of an {@link EvidenceError}. */
export type EvidenceErrorCode = keyof typeof EVIDENCE_ERRORS;

/** An error of evidence: it shows nothing. */
export const EvidenceError = /* @__PURE__ */ createErrorClass<typeof EVIDENCE_ERRORS>("EvidenceError");
export type EvidenceError = InstanceType<typeof EvidenceError>;
