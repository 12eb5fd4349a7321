import type { ErrorTable } from "./sotto-error.ts";

/** Codes that several packages throw. Each of them copies the definition into its own table. */
export const SHARED_ERRORS = {
  BODY_TOO_LARGE: { means: "The body of a request is larger than the limit.", exit: "usage", http: 413 },
  CHAIN_UNAVAILABLE: { means: "No node of the chain answers. Try again.", exit: "network", http: 503 },
  INSUFFICIENT_TOKENS: {
    means: "The account that deposits has too few tokens. The wallet's error has the detail `missing`.",
    exit: "funds",
    http: 422,
    remedy: { local: "mint test tokens with --mint", elsewhere: "send tokens to the account first" },
  },
  INVALID_OPTION: { means: "An option is missing, malformed or out of range. The message names it.", exit: "usage" },
  KEY_MISSING: { means: "A required key is missing.", exit: "key" },
  NODE_TOO_OLD: { means: "This version of Node.js has no built-in SQLite.", exit: "usage" },
  POOL_MISMATCH: { means: "The contract at the address is not the expected pool.", exit: "usage" },
  PROOF_MISMATCH: { means: "The prover proved a different statement than it was asked to prove." },
  RECIPIENT_NOT_SIGNED: {
    means: "The recipient's wallet did not sign the shielded address that is to be paid.",
    exit: "refused",
  },
  SETTLEMENT_UNKNOWN: {
    means: "It is not known yet whether the payment was settled. Repeat the call: it pays at most once.",
    exit: "pending",
    http: 503,
  },
  SET_MISMATCH: { means: "The keys belong to a different set than the pool's.", exit: "usage" },
  UNKNOWN_PAYMENT: { means: "There is no payment with this id.", exit: "usage", http: 404 },
  USAGE: { means: "An option or argument is unknown, missing or of the wrong kind.", exit: "usage" },
  WRONG_CHAIN: { means: "The node is on a different chain than expected.", exit: "usage" },
} satisfies ErrorTable;

/** The errors of this package. */
export const PROTOCOL_ERRORS = {
  INVALID_ARGUMENT: { means: "A value is not the expected object, array or bytes.", exit: "usage" },
  INVALID_INTEGER: { means: "An integer is missing, not an integer, or out of its range.", exit: "usage", http: 400 },
  INVALID_FIELD_ELEMENT: {
    means: "A value is not a canonical element of the BN254 scalar field.",
    exit: "usage",
    http: 400,
  },
  INVALID_AMOUNT: {
    means: "An amount is negative, has a fraction of a base unit, or exceeds 2^64 - 1 base units.",
    exit: "usage",
    http: 400,
  },
  INVALID_HEX: {
    means: "A value is not lower-case hex with 0x, or has the wrong length.",
    exit: "usage",
    http: 400,
  },
  INVALID_ADDRESS: {
    means: "A value is not an Ethereum address, or its EIP-55 checksum is wrong.",
    exit: "usage",
    http: 400,
  },
  INVALID_STRING: { means: "A string is missing, empty or not well-formed Unicode.", exit: "usage", http: 400 },
  INVALID_POINT: {
    means: "A value does not encode a point of Baby Jubjub's prime-order subgroup, or encodes the identity.",
    exit: "usage",
    http: 400,
  },
  INVALID_SCALAR: { means: "A scalar is out of the range that its use demands." },
  INVALID_KEY: {
    means: "A seed or key has the wrong size or range, or belongs to another address. No message repeats it.",
    exit: "key",
  },
  INVALID_SIGNATURE: {
    means: "A signature is malformed, has a high s, or is another account's.",
    exit: "invalid",
    http: 400,
  },
  INVALID_SHIELDED_ADDRESS: {
    means: "A value is not a shielded address: 64 bytes, the packed encryption key and the owner tag.",
    exit: "usage",
    http: 400,
  },
  INVALID_HASH_INPUT: { means: "Poseidon takes 1 to 16 inputs and returns at most as many outputs." },
  TREE_FULL: { means: "The tree has no room for the leaves.", exit: "refused" },
  INVALID_LEAF: { means: "A leaf is 0 or not a field element, or a batch of leaves has the wrong size." },
  LEAF_NOT_FOUND: { means: "The tree has no leaf at this index." },
  INVALID_TREE_STATE: { means: "The stored state of the tree is damaged or of an unknown version." },
  NOTE_NOT_IN_TREE: { means: "The tree holds another commitment at the index of the note to be spent." },
  INSUFFICIENT_NOTES: {
    means: "The notes are worth less than the amount to be paid. Details: `missing`.",
    exit: "funds",
  },
  AMOUNT_OUT_OF_BOUNDS: { means: "An amount is outside the bounds that its range proof states.", exit: "usage" },
  INVALID_WITHDRAWAL_INPUTS: { means: "A withdrawal spends 1 to 8 different notes." },
  INVALID_BUNDLE: {
    means: "A field of a payment bundle is missing, malformed or inconsistent. The message names it.",
    exit: "invalid",
    http: 400,
  },
  CIPHERTEXT_MISMATCH: {
    means: "The two proofs of a bundle are not about the bundle's ciphertext.",
    exit: "invalid",
  },
  BINDING_INVALID: {
    means: "A field of a shielded address binding is missing or malformed.",
    exit: "refused",
    http: 400,
  },
  BINDING_SIGNATURE_INVALID: {
    means: "The signature of a binding is not hex with 0x, or is too long.",
    exit: "refused",
    http: 400,
  },
  BINDING_UNCHECKED: {
    means: "The node did not answer whether a contract wallet accepts a signature. Try again.",
    exit: "network",
  },
  BINDING_FROM_THE_FUTURE: { means: "A binding is dated later than the next time slot.", exit: "refused", http: 422 },
  BINDING_EXPIRED: { means: "A binding is older than 400 days.", exit: "refused" },
  BINDING_STALE: { means: "A binding to be linked is older than 24 hours.", exit: "refused", http: 422 },
  INSTRUCTIONS_INVALID: {
    means: "A field of the payment instructions (the body of a 402 response) is missing, malformed or inconsistent.",
    exit: "refused",
  },
  PROOF_HEADER_NOT_JSON: {
    means: "An X-Payment-Proof header is not JSON, not ASCII, or longer than 8,192 characters.",
  },
  PROOF_HEADER_INVALID: { means: "A field of an X-Payment-Proof header is missing or malformed." },
  DEPLOYMENT_INVALID: {
    means: "A field of a deployment manifest is missing, malformed or inconsistent.",
    exit: "usage",
  },
  TOKEN_CLAIMS_INVALID: { means: "A claim of a payment token is missing or malformed.", exit: "network" },
  ANSWER_TOO_LARGE: { means: "The body of a response exceeds the client's limit.", exit: "network" },
} satisfies ErrorTable;

/** The errors of @sotto/protocol/x402: an x402 object is malformed or not supported. */
export const X402_ERRORS = {
  X402_VERSION_UNSUPPORTED: { means: "The version of x402 is not 2.", http: 400 },
  X402_SCHEME_UNSUPPORTED: { means: "The payment requirements have a different scheme than sotto's.", http: 400 },
  X402_NETWORK_UNSUPPORTED: { means: "The network is not an EIP-155 network, or not the one served.", http: 400 },
  X402_REQUIREMENTS_INVALID: { means: "A field of the payment requirements is missing or malformed.", http: 400 },
  X402_PAYLOAD_INVALID: { means: "A field of the payment payload is missing or malformed.", http: 400 },
  X402_LISTING_INVALID: { means: "A field of a resource's listing is malformed, or the listing is too large." },
} satisfies ErrorTable;
