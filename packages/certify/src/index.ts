export {
  type Certificate,
  type CircuitFiles,
  certifyFiles,
  problemLines,
  proveFiles,
  type Result,
  replayProof,
} from "./certify.ts";
export { compileCircuit, type Simplification } from "./compile.ts";
export { meetsOrder, multiplesOf, ORDER } from "./curve.ts";
export { CertifyError, type CertifyErrorCode } from "./errors.ts";
export type { Finding } from "./explain.ts";
export { type Place, Places } from "./locate.ts";
export { type Circuit, certify, type Outcome, type Stage } from "./outcome.ts";
export { readSystem, type Side, type System, systemOf } from "./r1cs.ts";
export type { SearchLimits } from "./refute/refute.ts";
export type { Theorem } from "./replay/certificate.ts";
export type { CheckedTheorem } from "./replay/check.ts";
export { describe, verdict } from "./report.ts";
export { type Proof, prove } from "./theorem.ts";
