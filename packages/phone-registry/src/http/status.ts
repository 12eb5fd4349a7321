import type { StatusTable } from "@sotto/server";

/** The statuses of the registry's codes. A server that mounts the registry adds them to its table. */
export const PHONE_STATUS = {
  // What came in
  INVALID_PHONE_NUMBER: 400,
  AMBIGUOUS_PHONE_NUMBER: 400,
  INVALID_ADDRESS: 400,
  INVALID_SHIELDED_ADDRESS: 400,
  BINDING_INVALID: 400,
  BINDING_SIGNATURE_INVALID: 400,
  NUMBER_NOT_SERVED: 422,
  // Signatures
  SIGNATURE_INVALID: 401,
  LOOKUP_SIGNATURE_REQUIRED: 401,
  NONCE_REFUSED: 401,
  BINDING_STALE: 422,
  BINDING_FROM_THE_FUTURE: 422,
  SIGNATURE_REPLAYED: 409,
  LINK_OUTDATED: 409,
  // Links and codes
  UNKNOWN_NUMBER: 404,
  NOT_LINKED: 404,
  CODE_WRONG: 422,
  CODE_EXPIRED: 410,
  CODE_EXHAUSTED: 410,
  // Limits
  CODES_LIMITED: 429,
  LOOKUPS_LIMITED: 429,
  CONTRACT_CHECKS_LIMITED: 429,
  // What the registry needs does not answer
  STORE_UNAVAILABLE: 503,
  CHAIN_UNAVAILABLE: 503,
  REGISTRY_CLOSED: 503,
} as const satisfies StatusTable;
