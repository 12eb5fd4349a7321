import type { ErrorTable } from "./sotto-error.ts";

/** Codes that several packages throw. Each of them copies the definition into its own table. */
export const SHARED_ERRORS = {
  ADDRESS_MONTH_MISSING: {
    means: "A server has no address of this month, so nobody can pay it.",
    cause: "The last month of its addresses has ended, the first one has not begun, or the server's clock is wrong.",
    remedy:
      "sign addresses of further months with `sotto address schedule`, and start the server with them; or set its clock",
    exit: "usage",
  },
  BODY_TOO_LARGE: {
    means: "The body of a request is larger than the limit.",
    cause: "The program sends a file or text that is larger than this address accepts.",
    exit: "usage",
    http: 413,
  },
  CHAIN_UNAVAILABLE: {
    means: "No node of the chain answers. Try again.",
    cause: "The nodes are down, limit requests, or are not reachable from this machine.",
    exit: "network",
    http: 503,
  },
  INSUFFICIENT_TOKENS: {
    means: "The account that deposits has too few tokens. The wallet's error has the detail `missing`.",
    cause:
      "The account was never funded, spent its tokens elsewhere, or other deposits of the account are still waiting.",
    exit: "funds",
    http: 422,
    remedy: { local: "mint test tokens with --mint", elsewhere: "send tokens to the account first" },
  },
  NOT_APPROVED: {
    means: "The account that deposits has not approved Permit2, and signed no permit that would.",
    cause:
      "The token is older than permits (EIP-2612), the account is a contract, or another deposit used the approval.",
    exit: "refused",
    http: 422,
    remedy: "approve Permit2 from the account once, or use `sotto deposit AMOUNT --approve`, which needs no Permit2",
  },
  INVALID_OPTION: {
    means: "An option is missing, malformed or out of range. The message names it.",
    cause: "An option has a typo or the wrong unit, or belongs to another version.",
    exit: "usage",
  },
  KEY_MISSING: {
    means: "A required key is missing.",
    cause: "The key was not configured, its file was moved, or it was removed while records still need it.",
    exit: "key",
  },
  NODE_TOO_OLD: {
    means: "This version of Node.js has no built-in SQLite.",
    cause: "A Node.js before 22.13 comes first on the PATH of this shell, container or CI job.",
    exit: "usage",
  },
  POOL_MISMATCH: {
    means: "The contract at the address is not the expected pool.",
    cause: "The address is another contract's, or the manifest belongs to another deployment or release.",
    exit: "usage",
  },
  PROOF_MISMATCH: {
    means: "The prover proved a different statement than it was asked to prove.",
    cause: "The artifacts belong to another version of the circuits, or a prover outside this process is faulty.",
  },
  QUOTA_EXCEEDED: {
    means: "A quota is exhausted. The message names it; `retry-after` says when to retry.",
    cause: "A program pays in a loop, or many users share one address.",
    http: 429,
  },
  RECIPIENT_NOT_SIGNED: {
    means: "The recipient's wallet did not sign the shielded address that is to be paid.",
    cause: "The payment terms name a shielded address that the wallet replaced, or a server on the way changed them.",
    exit: "refused",
  },
  SETTLEMENT_UNKNOWN: {
    means: "It is not known yet whether the payment was settled. Repeat the call: it pays at most once.",
    cause: "The connection to the service or to the nodes ended while a settlement was in progress.",
    exit: "pending",
    http: 503,
  },
  SET_MISMATCH: {
    means: "The keys belong to a different set than the pool's.",
    cause: "The pool was deployed with other keys, for example those of a newer ceremony, than this version contains.",
    exit: "usage",
  },
  UNKNOWN_PAYMENT: {
    means: "There is no payment with this id.",
    cause: "The id has a typo, or belongs to another service, wallet or chain.",
    exit: "usage",
    http: 404,
  },
  USAGE: {
    means: "An option or argument is unknown, missing or has the wrong type.",
    cause: "The command line has a typo, or was written for another version.",
    exit: "usage",
  },
  WRONG_CHAIN: {
    means: "The node is on a different chain than expected.",
    cause: "The URL is that of a node of another network, or a local chain was started with another chain id.",
    exit: "usage",
  },
  WRONG_DEPLOYMENT: {
    means: "The request is for another chain or pool.",
    cause: "The client uses the manifest of another deployment.",
    http: 422,
  },
} satisfies ErrorTable;

/** The errors of this package. */
export const PROTOCOL_ERRORS = {
  INVALID_ARGUMENT: {
    means: "A value is not the expected object, array or bytes.",
    cause: "A program without type checks passes a value of another type, often `undefined` from a missing setting.",
    exit: "usage",
  },
  INVALID_INTEGER: {
    means: "An integer is missing, not an integer, or out of its range.",
    cause: "The value is a fraction, a float, a text with spaces, or in another unit.",
    exit: "usage",
    http: 400,
  },
  INVALID_FIELD_ELEMENT: {
    means: "A value is not a canonical element of the BN254 scalar field.",
    cause: "The value was not reduced modulo the field's order, or comes from another curve or encoding.",
    exit: "usage",
    http: 400,
  },
  INVALID_AMOUNT: {
    means: "An amount is negative, has a fraction of a base unit, or exceeds 2^64 - 1 base units.",
    cause: "The amount has more decimals than the token, or is in whole tokens where base units are expected.",
    exit: "usage",
    http: 400,
  },
  INVALID_HEX: {
    means: "A value is not lower-case hex with 0x, or has the wrong length.",
    cause: "The value was cut off when it was copied, has upper-case digits, or lacks 0x.",
    exit: "usage",
    http: 400,
  },
  INVALID_ADDRESS: {
    means: "A value is not an Ethereum address, or its EIP-55 checksum is wrong.",
    cause: "A digit was lost or changed when the address was copied.",
    exit: "usage",
    http: 400,
  },
  INVALID_STRING: {
    means: "A string is missing, empty or not well-formed Unicode.",
    cause: "A setting or field is empty, or a text was cut within a character.",
    exit: "usage",
    http: 400,
  },
  LABEL_RESERVED: {
    means: "A label of a derived secret belongs to one of the wallet's own keys.",
    cause: 'An extension of the wallet asks for a secret whose name ends in "-key".',
    exit: "usage",
  },
  INVALID_POINT: {
    means: "A value does not encode a point of Baby Jubjub's prime-order subgroup, or encodes the identity.",
    cause: "The key was damaged on the way, or belongs to another curve.",
    exit: "usage",
    http: 400,
  },
  INVALID_SCALAR: {
    means: "A scalar is outside the range that its use requires.",
    cause: "A random value or key was not reduced modulo the subgroup's order.",
  },
  INVALID_KEY: {
    means: "A seed or key has the wrong size or range, or belongs to another address. No message repeats it.",
    cause: "The key was cut off when it was copied, has another format, or belongs to another account.",
    exit: "key",
  },
  INVALID_MONTH: {
    means: "A month is not of the form 2026-12, or not from 2020-01 to 2099-12.",
    cause: "The month has a typo, or a clock is decades off.",
    exit: "usage",
  },
  INVALID_SIGNATURE: {
    means: "A signature is malformed, has a high s, or is another account's.",
    cause: "Another account signed, the signed data was changed afterwards, or the signer uses another format.",
    exit: "invalid",
    http: 400,
  },
  INVALID_SHIELDED_ADDRESS: {
    means: "A value is not a shielded address: 64 bytes, the packed encryption key and the owner tag.",
    cause: "The address was cut off when it was copied, or is an Ethereum address.",
    exit: "usage",
    http: 400,
  },
  INVALID_HASH_INPUT: {
    means: "Poseidon takes 1 to 16 inputs and returns at most as many outputs.",
    cause: "The caller passes no input, or more than one call can hash.",
  },
  TREE_FULL: {
    means: "The tree has no room for the leaves.",
    cause: "The pool has received 1,073,741,824 notes, all that its tree can hold.",
    exit: "refused",
  },
  INVALID_LEAF: {
    means: "A leaf is 0 or not a field element, or a batch of leaves has the wrong size.",
    cause: "The caller passes an empty leaf, or a number of leaves that does not fit the batch.",
  },
  LEAF_NOT_FOUND: {
    means: "The tree has no leaf at this index.",
    cause: "The tree has not been read that far yet, or the index belongs to another pool.",
  },
  INVALID_TREE_STATE: {
    means: "The stored state of the tree is damaged or of an unknown version.",
    cause: "A write was interrupted, or another version of the program wrote the state.",
  },
  NOTE_NOT_IN_TREE: {
    means: "The tree holds another commitment at the index of the note to be spent.",
    cause: "The local tree is older than the note, or was built from another pool's events.",
  },
  NOTE_NOT_IN_MASK: {
    means: "The curator's set does not contain the note, so its origin cannot be proved. Details: `leafIndex`.",
    cause:
      "The curator refused the note or has not accepted it yet, the mask tree is older than the note, or the note's amount, " +
      "blinding, key or index is wrong.",
    exit: "refused",
  },
  INVALID_MASK_PATH: {
    means: "A path in a curator's mask tree does not lead from the note to the mask root.",
    cause: "The path and the root belong to different roots of the curator, or the path is another leaf's.",
  },
  INSUFFICIENT_NOTES: {
    means: "The notes are worth less than the amount to be paid. Details: `missing`.",
    cause: "The chosen notes do not add up to the amount, often because others wait for confirmations.",
    exit: "funds",
  },
  AMOUNT_OUT_OF_BOUNDS: {
    means: "An amount is outside the bounds that its range proof states.",
    cause: "The caller states bounds that were meant for another amount, or in another unit.",
    exit: "usage",
  },
  INVALID_WITHDRAWAL_INPUTS: {
    means: "A withdrawal spends 1 to 8 different notes.",
    cause: "The caller names no note, the same note twice, or more notes than one proof spends.",
  },
  INVALID_BUNDLE: {
    means: "A field of a payment bundle is missing, malformed or inconsistent. The message names it.",
    cause: "The client has another version, or the bundle was changed on the way.",
    exit: "invalid",
    http: 400,
  },
  CIPHERTEXT_MISMATCH: {
    means: "The two proofs of a bundle are not about the bundle's ciphertext.",
    cause: "The bundle combines proofs of two payments, or its ciphertext was changed afterwards.",
    exit: "invalid",
  },
  BINDING_INVALID: {
    means: "A field of a shielded address binding is missing or malformed.",
    cause: "The JSON was edited or cut off, or another version wrote it.",
    exit: "refused",
    http: 400,
  },
  BINDING_SIGNATURE_INVALID: {
    means: "The signature of a binding is not hex with 0x, or is too long.",
    cause: "The signing wallet returned another format, or the text was cut off.",
    exit: "refused",
    http: 400,
  },
  BINDING_UNCHECKED: {
    means: "The node did not answer whether a contract wallet accepts a signature. Try again.",
    cause: "The nodes are down or limit requests, or the contract wallet uses more gas than the node allows.",
    exit: "network",
  },
  BINDING_FROM_THE_FUTURE: {
    means: "A binding is dated later than the next time slot.",
    cause: "The clock of the machine that signed is ahead, or the checking machine's clock is behind.",
    exit: "refused",
    http: 422,
  },
  BINDING_EXPIRED: {
    means: "A binding is older than 400 days.",
    cause: "The recipient has not signed its address again for more than a year.",
    exit: "refused",
  },
  BINDING_STALE: {
    means: "A binding to be linked is older than 24 hours.",
    cause: "The wallet signed the binding too long before it was sent, or a machine's clock is wrong.",
    exit: "refused",
    http: 422,
  },
  SCHEDULE_INVALID: {
    means: "A schedule of addresses is malformed. The message names the field.",
    cause: "The file was edited or cut off, or is of another version.",
    exit: "refused",
  },
  INSTRUCTIONS_INVALID: {
    means: "A field of the payment instructions (the body of a 402 response) is missing, malformed or inconsistent.",
    cause: "The resource server has another version or a faulty integration, or a proxy changed the body.",
    exit: "refused",
  },
  PROOF_HEADER_NOT_JSON: {
    means: "An X-Payment-Proof header is not JSON, not ASCII, or longer than 8,192 characters.",
    cause: "The header was not written by a sotto client, or a proxy changed or cut it.",
  },
  PROOF_HEADER_INVALID: {
    means: "A field of an X-Payment-Proof header is missing or malformed.",
    cause: "The client has another version, or its own code for headers is faulty.",
  },
  DEPLOYMENT_INVALID: {
    means: "A field of a deployment manifest is missing, malformed or inconsistent.",
    cause: "The file was edited or cut off, or is another JSON file.",
    exit: "usage",
  },
  TOKEN_CLAIMS_INVALID: {
    means: "A claim of a payment token is missing or malformed.",
    cause: "The service has another version, or the address belongs to another program.",
    exit: "network",
  },
  ANSWER_TOO_LARGE: {
    means: "The body of a response exceeds the client's limit.",
    cause: "The address belongs to another kind of server, or a proxy answers with a page of its own.",
    exit: "network",
  },
} satisfies ErrorTable;

/** The errors of @sotto/protocol/x402: an x402 object is malformed or not supported. */
export const X402_ERRORS = {
  X402_VERSION_UNSUPPORTED: {
    means: "The version of x402 is not 2.",
    cause: "The other side uses version 1 of x402, or a later one.",
    http: 400,
  },
  X402_SCHEME_UNSUPPORTED: {
    means: "The payment requirements have a different scheme than sotto's.",
    cause: "The resource offers only `exact` or other schemes, or the client chose the wrong offer.",
    http: 400,
  },
  X402_NETWORK_UNSUPPORTED: {
    means: "The network is not an EIP-155 network, or not the one served.",
    cause: "The resource server and the service are configured for different chains.",
    http: 400,
  },
  X402_REQUIREMENTS_INVALID: {
    means: "A field of the payment requirements is missing or malformed.",
    cause: "The resource server has another version or builds the requirements itself.",
    http: 400,
  },
  X402_PAYLOAD_INVALID: {
    means: "A field of the payment payload is missing or malformed.",
    cause: "The client has another version or builds the payload itself.",
    http: 400,
  },
  X402_LISTING_INVALID: {
    means: "A field of a resource's listing is malformed, or the listing is too large.",
    cause: "The resource server's discovery data is incomplete, too long or of another version.",
  },
} satisfies ErrorTable;
