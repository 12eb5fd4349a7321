import type { ErrorTable } from "@sotto/protocol";

/** The errors of this package. */
export const PROVER_ERRORS = {
  ARTIFACTS_LOCK_INVALID: {
    means: "The lock is not an object of SHA-256 hashes by circuit and file.",
    exit: "usage",
  },
  ARTIFACT_SET_UNKNOWN: { means: "No lock of this name is compiled in. Details: `set`, `known`.", exit: "usage" },
  ARTIFACTS_SOURCE_INVALID: {
    means:
      "The source of the artifacts cannot be used: not exactly one of folder, base URL and service, a folder " +
      "outside Node.js, a URL that is not http(s), or no WebCrypto.",
    exit: "usage",
  },
  ARTIFACT_MISSING: { means: "There is no file at the path or URL of an artifact.", exit: "usage" },
  ARTIFACT_UNREACHABLE: {
    means: "An artifact cannot be read: no permission, no network, or a server error.",
    exit: "network",
  },
  ARTIFACT_CACHE_FAILED: {
    means:
      "The cache of artifacts cannot be read or written; the artifacts are used without it. Details: `location`, `reason`.",
  },
  ARTIFACT_TOO_LARGE: { means: "An artifact is larger than any artifact of sotto.", exit: "network" },
  ARTIFACT_CHANGED: {
    means: "The SHA-256 of an artifact is not the lock's. Details: `file`, `expected`, `found`.",
    exit: "usage",
  },
  CIRCUIT_UNKNOWN: { means: "There is no circuit of this name.", exit: "usage" },
  VERIFICATION_KEY_INVALID: { means: "A verification key cannot be used.", exit: "usage" },
  PROVING_KEY_INVALID: { means: "A proving key cannot be used.", exit: "usage" },
  WITNESS_GENERATOR_INVALID: {
    means: "The witness generator is not a circom 2 generator over BN254's scalar field.",
    exit: "usage",
  },
  CHAIN_ID_INVALID: { means: "The chain id is not a positive integer.", exit: "usage" },
  DEVELOPMENT_KEYS_REFUSED: { means: "The keys come from a public seed, and the chain is not local.", exit: "usage" },
  INPUT_INVALID: {
    means:
      "An input of the circuit is missing, unknown, of the wrong size or not a canonical field element. No message " +
      "repeats a value.",
  },
  WITNESS_REFUSED: { means: "The inputs do not satisfy the circuit, so they cannot be proved." },
  PROOF_SELF_CHECK_FAILED: {
    means: "The new proof does not verify: the files belong to different circuits, or the machine made an error.",
  },
  ENGINE_FAILED: { means: "The proof engine or one of its threads failed.", http: 503 },
  PROOF_MALFORMED: { means: "A proof is not eight canonical decimal strings.", exit: "invalid", http: 400 },
  PROOF_COORDINATE_RANGE: {
    means: "A coordinate of a proof is not below the field modulus q, so it is an alias of another proof.",
    exit: "invalid",
    http: 400,
  },
  PROOF_AT_INFINITY: { means: "A point of a proof is the point at infinity.", exit: "invalid", http: 400 },
  PROOF_NOT_ON_CURVE: { means: "A point of a proof is not on its curve.", exit: "invalid", http: 400 },
  PROOF_NOT_IN_SUBGROUP: {
    means: "Point B of a proof is on the twist, but outside the subgroup of order r.",
    exit: "invalid",
    http: 400,
  },
  SIGNALS_MALFORMED: {
    means: "The public signals are not as many canonical decimal strings as the circuit has.",
    exit: "invalid",
    http: 400,
  },
  SIGNAL_RANGE: {
    means: "A public signal is not below the scalar field's order r, so it is an alias of another one.",
    exit: "invalid",
    http: 400,
  },
  ABORTED: { means: "The caller aborted the operation.", exit: "interrupted" },
} satisfies ErrorTable;
