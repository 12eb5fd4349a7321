/** What an error code means and how a program ends or answers with it. */
export interface ErrorDefinition {
  readonly means: string;
  /** Why it usually happens: what to look for first. */
  readonly cause: string;
  /** How it ends a command: wrong usage, invalid data of another party, or interrupted. Default: another failure. */
  readonly exit?: "usage" | "invalid" | "interrupted" | undefined;
  /** Status of an HTTP response with this error. Default: 500. */
  readonly http?: number | undefined;
  /** The next step. */
  readonly remedy?: string | undefined;
}

/** The error of an operation that its caller aborted; a constant of its own, so that bundles can leave out the others. */
export const ABORTED_ERROR = {
  means: "The caller aborted the operation.",
  cause: "The program's `AbortSignal` fired, or a command was interrupted.",
  exit: "interrupted",
} satisfies ErrorDefinition;

/** The errors of this package. */
export const GROTH16_ERRORS = {
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
  COMPACT_KEY_INVALID: {
    means: "A compact proving key does not expand to the key from which it was made. Details: `reason`.",
    cause: "The file was cut off or changed on the way, or another program wrote it.",
    exit: "invalid",
    remedy: "Make it again with `groth16 compact`, or use the .zkey file.",
  },
  COMPACT_KEY_UNSUPPORTED: {
    means: "A page cannot check the hash of a compact proving key, because the browser offers it no WebCrypto.",
    cause: "The page was loaded neither over HTTPS nor from localhost.",
    exit: "usage",
    remedy: "Serve the page over HTTPS, or use the .zkey file.",
  },
  WITNESS_GENERATOR_INVALID: {
    means: "The witness generator is not one of circom 2 over BN254's scalar field, or fails.",
    cause: "The file was cut off, another compiler wrote it, or it needs more than 2 GiB.",
    exit: "usage",
  },
  CIRCUIT_FILE_UNREADABLE: {
    means: "A witness generator, proving key or witness could not be read. Details: `kind`.",
    cause:
      "The path is wrong, the server of the URL refused it, or the file of a proving key changed while it was read. Neither message " +
      "nor cause repeats a URL.",
    exit: "usage",
  },
  WITNESS_FILE_INVALID: {
    means: "A .wtns file cannot be used.",
    cause: "The file was cut off, or belongs to another curve or circuit.",
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
    means:
      "The new proof does not verify: the files belong to different circuits, a .wtns file does not satisfy the circuit, or " +
      "the machine erred.",
    cause: "Files of two builds are mixed, or the hardware is faulty.",
  },
  SIGNAL_NOT_FREE: {
    means: "Proofs cannot be prepared for this signal: it is not a public signal that occurs only in its own square.",
    cause: "The name has a typo, or a changed circuit uses the signal elsewhere.",
    exit: "usage",
  },
  CIRCUIT_TOO_LARGE: {
    means: "A circuit needs more memory than there is, or than a kernel can address, 2 GiB. Details: `domainSize`.",
    cause: "The circuit has millions of constraints, or the machine little memory.",
    exit: "usage",
  },
  ENGINE_UNSUPPORTED: {
    means: "This runtime cannot prove, because its WebAssembly has no SIMD.",
    cause: "A browser before Safari 16.4, or a processor without SSE4.1.",
    remedy: "Prove with another browser or machine. Verification works.",
  },
  PREPARE_UNSUPPORTED: {
    means: "The proof engine cannot prepare proofs; it makes complete ones. Details: `engine`.",
    cause: "The program uses an engine of its own, without `sums`.",
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
  ABORTED: ABORTED_ERROR,
} satisfies Readonly<Record<string, ErrorDefinition>>;
