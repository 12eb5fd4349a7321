import { ABORTED_ERROR } from "@sotto/groth16";
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
  CHAIN_ID_INVALID: {
    means: "The chain id is not a positive integer.",
    cause: "A setting is missing or was read as text.",
    exit: "usage",
  },
  DEVELOPMENT_KEYS_REFUSED: {
    means: "The keys come from a public seed or a rehearsal, and the chain is not local or NODE_ENV is production.",
    cause: "A pool on a public chain was deployed with keys that anyone can forge proofs for.",
    exit: "usage",
  },
  ABORTED: ABORTED_ERROR,
} satisfies ErrorTable;
