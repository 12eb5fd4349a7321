export type { ArtifactCache } from "./artifacts/cache.ts";
export { assertAllowedOnChain, DEVELOPMENT_SET } from "./artifacts/development.ts";
export { type Artifacts, type LoadOptions, loadArtifacts } from "./artifacts/load.ts";
export {
  type ArtifactKind,
  type ArtifactsLock,
  type CircuitHashes,
  setFolder,
} from "./artifacts/lock.ts";
export { ARTIFACT_SETS, lockOf } from "./artifacts/sets.ts";
export type { ArtifactProgress } from "./artifacts/source.ts";
export type { ProvingEngine } from "./engine/engine.ts";
export { defaultEngine, type FastOptions, fastEngine } from "./engine/fast-engine.ts";
export { type SnarkjsOptions, snarkjsEngine } from "./engine/snarkjs-engine.ts";
export { PROVER_ERRORS } from "./error-definitions.ts";
export { ProverError, type ProverErrorCode } from "./errors.ts";
export type { Witness } from "./fast/parts.ts";
export type { PreparedProof } from "./prepared/prepared-proof.ts";
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
  createProver,
  type PrepareOptions,
  type Proof,
  type ProveOptions,
  type Prover,
  type ProverOptions,
  type ProveStage,
} from "./prover.ts";
export { createVerifier, type VerificationKeys, type Verifier, type VerifierOptions } from "./verifier.ts";
export type { CircuitInput, InputValue } from "./witness/input.ts";
