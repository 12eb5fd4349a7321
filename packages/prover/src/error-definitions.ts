import type { ErrorTable } from "@sotto/protocol/base";

/** The errors of this package. */
export const PROVER_ERRORS = {
  ARTIFACTS_LOCK_INVALID: {
    means: "The lock is not an object of SHA-256 hashes by circuit and file.",
    cause: "The file was edited, or another JSON file was passed.",
    exit: "usage",
  },
  ARTIFACT_SET_UNKNOWN: {
    means: "No lock of this name is compiled in. Details: `set`, `known`.",
    cause: "The pool uses keys that are newer than this version, or the name has a typo.",
    exit: "usage",
  },
  ARTIFACTS_SOURCE_INVALID: {
    means:
      "The source of the artifacts cannot be used: not exactly one of folder, base URL and service, a folder " +
      "outside Node.js, a URL that is not http(s), or no WebCrypto.",
    cause: "The options contradict each other, or the page is not served by https or from localhost.",
    exit: "usage",
  },
  ARTIFACT_MISSING: {
    means: "There is no file at the path or URL of an artifact.",
    cause: "The path or URL is wrong, or the circuits were not built.",
    exit: "usage",
  },
  ARTIFACT_UNREACHABLE: {
    means: "An artifact cannot be read: no permission, no network, or a server error.",
    cause: "The connection failed, the server is overloaded, or the file belongs to another user.",
    exit: "network",
  },
  ARTIFACT_CACHE_FAILED: {
    means:
      "The cache of artifacts cannot be read or written; the artifacts are used without it. Details: `location`, `reason`.",
    cause: "The disk or the browser's quota is full, or the folder is read-only.",
  },
  ARTIFACT_TOO_LARGE: {
    means: "An artifact is larger than any artifact of sotto.",
    cause: "The URL belongs to another file, or a proxy answers with a page of its own.",
    exit: "network",
  },
  ARTIFACT_CHANGED: {
    means: "The SHA-256 of an artifact does not match the lock. Details: `file`, `expected`, `found`.",
    cause: "The circuits were built again with other keys, the download was damaged, or someone replaced the file.",
    exit: "usage",
  },
  CIRCUIT_UNKNOWN: {
    means: "There is no circuit of this name.",
    cause: "The name has a typo, or belongs to another version.",
    exit: "usage",
  },
  VERIFICATION_KEY_INVALID: {
    means: "A verification key cannot be used.",
    cause: "The file was edited or cut off, or belongs to another proof system.",
    exit: "usage",
  },
  PROVING_KEY_INVALID: {
    means: "A proving key cannot be used.",
    cause: "The file was cut off, or is not a Groth16 key over BN254.",
    exit: "usage",
  },
  WITNESS_GENERATOR_INVALID: {
    means: "The witness generator is not a circom 2 generator over BN254's scalar field.",
    cause: "The file was cut off, or another compiler wrote it.",
    exit: "usage",
  },
  CHAIN_ID_INVALID: {
    means: "The chain id is not a positive integer.",
    cause: "A setting is missing or was read as text.",
    exit: "usage",
  },
  DEVELOPMENT_KEYS_REFUSED: {
    means: "The keys come from a public seed, and the chain is not local.",
    cause: "A pool on a public chain was deployed with keys that anyone can forge proofs for.",
    exit: "usage",
  },
  INPUT_INVALID: {
    means:
      "An input of the circuit is missing, unknown, of the wrong size or not a canonical field element. No message " +
      "repeats a value.",
    cause: "The inputs were made for another circuit, or by code that does not reduce its values.",
  },
  WITNESS_REFUSED: {
    means: "The inputs do not satisfy the circuit, so they cannot be proved.",
    cause: "The inputs contradict each other: a wrong key, path or sum.",
  },
  PROOF_SELF_CHECK_FAILED: {
    means: "The new proof does not verify: the files belong to different circuits, or the machine made an error.",
    cause: "Files of two builds are mixed, or the memory or processor is faulty.",
  },
  SIGNAL_NOT_FREE: {
    means: "Proofs cannot be prepared for this signal: it is not a public signal that occurs only in its own square.",
    cause: "The name has a typo, or a changed circuit uses the signal elsewhere.",
    exit: "usage",
  },
  PREPARE_UNSUPPORTED: {
    means: "The proof engine cannot prepare proofs; it makes complete ones. Details: `engine`.",
    cause: "The machine or browser lacks relaxed SIMD, so snarkjs proves.",
    remedy: "Make complete proofs.",
  },
  PREPARED_PROOF_GONE: {
    means: "A prepared proof was already finished, discarded, or wiped after its idle time.",
    cause: "It was finished twice, or 15 minutes passed before its use.",
    remedy: "Make a complete proof.",
  },
  ENGINE_FAILED: {
    means: "The proof engine or one of its threads failed.",
    cause: "The process ran out of memory, or a thread was ended from outside.",
    http: 503,
  },
  PROOF_MALFORMED: {
    means: "A proof is not eight canonical decimal strings.",
    cause: "The client encodes numbers differently, or the body was changed on the way.",
    exit: "invalid",
    http: 400,
  },
  PROOF_COORDINATE_RANGE: {
    means: "A coordinate of a proof is not below the field modulus q, so it is an alias of another proof.",
    cause: "Someone changed the encoding of a valid proof, or the client does not reduce coordinates.",
    exit: "invalid",
    http: 400,
  },
  PROOF_AT_INFINITY: {
    means: "A point of a proof is the point at infinity.",
    cause: "Someone sends a forged proof, or the client's proof was left empty.",
    exit: "invalid",
    http: 400,
  },
  PROOF_NOT_ON_CURVE: {
    means: "A point of a proof is not on its curve.",
    cause: "The proof was damaged on the way, or is forged.",
    exit: "invalid",
    http: 400,
  },
  PROOF_NOT_IN_SUBGROUP: {
    means: "Point B of a proof is on the twist, but outside the subgroup of order r.",
    cause: "The proof is forged, or comes from a faulty prover.",
    exit: "invalid",
    http: 400,
  },
  SIGNALS_MALFORMED: {
    means: "The number of public signals is wrong, or one of them is not a canonical decimal string.",
    cause: "The client has another version or encodes numbers differently.",
    exit: "invalid",
    http: 400,
  },
  SIGNAL_RANGE: {
    means: "A public signal is not below the scalar field's order r, so it is an alias of another one.",
    cause: "Someone changed the encoding of a valid payment, or the client does not reduce its values.",
    exit: "invalid",
    http: 400,
  },
  ABORTED: {
    means: "The caller aborted the operation.",
    cause: "The program's `AbortSignal` fired, or a command was interrupted.",
    exit: "interrupted",
  },
} satisfies ErrorTable;
