/** What the project's own circuits and their tests use. It can change in any version. */
export {
  type Certificate,
  type CircuitFiles,
  certifyFiles,
  problemLines,
  proveFiles,
  type Result,
  replayProof,
} from "./certify.ts";
export { meetsOrder, multiplesOf, ORDER } from "./curve.ts";
export { readSystem, type Side, type System, systemOf } from "./r1cs.ts";
export { describe } from "./report.ts";
export { type Proof, prove } from "./theorem.ts";
