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
export { PROVER_ERRORS } from "./error-definitions.ts";
export { ProverError, type ProverErrorCode } from "./errors.ts";
export { createProver, type Prover, type ProverOptions } from "./prover.ts";
export { createVerifier, type VerificationKeys, type Verifier, type VerifierOptions } from "./verifier.ts";
