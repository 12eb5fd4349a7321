export { isCompactKeyOf } from "./compact/format.ts";
export type { ProvingEngine } from "./engine/engine.ts";
export { compactKey, type ExpandOptions, expandKey } from "./engine/expand-key.ts";
export { type FastOptions, fastEngine } from "./engine/fast-engine.ts";
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
export type { ZKArtifact } from "./snarkjs/files.ts";
export {
  type Groth16Options,
  type Groth16Result,
  groth16,
  type Logger,
  type PreparedGroth16,
  type PrepareGroth16Options,
  type ProverOptions,
} from "./snarkjs/groth16.ts";
export type { Groth16Proof, PublicSignals } from "./snarkjs/proof-json.ts";
export type { CircuitSignals, SignalValueType } from "./snarkjs/signals.ts";
export { type CircuitVerifier, createCircuitVerifier } from "./verifier.ts";
export type { CircuitInput, InputValue } from "./witness/input.ts";
