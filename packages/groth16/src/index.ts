export type { ProvingEngine } from "./engine/engine.ts";
export { defaultEngine, type FastOptions, fastEngine } from "./engine/fast-engine.ts";
export { type SnarkjsOptions, snarkjsEngine } from "./engine/snarkjs-engine.ts";
export { ABORTED_ERROR, type ErrorDefinition, GROTH16_ERRORS } from "./error-definitions.ts";
export { type ErrorDetails, Groth16Error, type Groth16ErrorCode } from "./errors.ts";
export type { Witness } from "./fast/parts.ts";
export type { PreparedProof, Proof } from "./prepared/prepared-proof.ts";
export {
  decodeProof,
  decodeProofOnCurves,
  decodeSignals,
  encodeProof,
  notInSubgroup,
  type ProofPoints,
} from "./proof/decode.ts";
export { parseVerificationKey, type VerificationKey } from "./proof/verification-key.ts";
export {
  type CircuitFiles,
  type CircuitProver,
  type CircuitProverOptions,
  createCircuitProver,
  type PrepareOptions,
  type ProveOptions,
  type ProveStage,
} from "./prover.ts";
export { type CircuitVerifier, createCircuitVerifier } from "./verifier.ts";
export type { CircuitInput, InputValue } from "./witness/input.ts";
