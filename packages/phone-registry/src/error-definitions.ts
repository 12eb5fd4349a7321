import { DATABASE_ERRORS } from "@sotto/database";
import { type ErrorTable, PROTOCOL_ERRORS, SHARED_ERRORS } from "@sotto/protocol";
import { SERVER_ERRORS } from "@sotto/server";

/** The errors of the registry itself. No message contains a number, key or code. */
export const REGISTRY_ERRORS = {
  INVALID_REQUEST: SERVER_ERRORS.INVALID_REQUEST,
  INVALID_OPTIONS: { means: "An option of the registry is missing or malformed. The message names it." },
  INVALID_KEYS: { means: "The key ring is empty, or has keys of the wrong size, unusable ids or duplicate ids." },
  KEY_MISMATCH: { means: "The database was written with a key of this id but another value." },
  KEY_MISSING: SHARED_ERRORS.KEY_MISSING,
  RECORD_TAMPERED: {
    means: "A record is not the one that the registry wrote in this row and version. It is never returned.",
  },
  SIGNATURE_INVALID: {
    means: "The wallet did not sign exactly these fields, with this time, for this registry.",
    http: 401,
  },
  SIGNATURE_REPLAYED: { means: "This signed request was accepted before.", http: 409 },
  LINK_OUTDATED: { means: "A newer link of the number exists. Sign again.", http: 409 },
  NOT_LINKED: { means: "The number is not linked to this wallet.", http: 404 },
  CODE_WRONG: { means: "The code is wrong. Details: `triesLeft`.", http: 422 },
  CODE_EXPIRED: { means: "There is no code for this number and wallet, or it has expired. Link again.", http: 410 },
  CODE_EXHAUSTED: { means: "The code was tried too often. Link again.", http: 410 },
  CODES_LIMITED: {
    means: "Too many codes or tries. Details: `scope` (number, linked, wallet, client, total) and `resetAt` (ms).",
    http: 429,
  },
  LOOKUPS_LIMITED: {
    means: "Too many lookups. Details: `scope` (client, clientRange, range, caller) and `resetAt` (ms).",
    http: 429,
  },
  NONCE_REFUSED: {
    means: "The nonce of a signed request was used before, or its deadline has passed or is too far off.",
    http: 401,
  },
  REGISTRY_CLOSED: { means: "The registry is shutting down. Try again.", http: 503 },
} satisfies ErrorTable;

/** The errors of its HTTP layer, of its start and of the senders of codes. */
export const PHONE_ERRORS = {
  INVALID_PHONE_NUMBER: { means: "A value is not a phone number that can exist.", http: 400 },
  AMBIGUOUS_PHONE_NUMBER: {
    means: "The digits can be read as two different phone numbers. Write + and the country code.",
    http: 400,
  },
  NUMBER_NOT_SERVED: { means: "The registry does not link numbers of this kind or country.", http: 422 },
  UNKNOWN_NUMBER: { means: "No wallet is linked to the number.", http: 404 },
  LOOKUP_SIGNATURE_REQUIRED: { means: "The registry answers signed lookups only.", http: 401 },
  CONTRACT_CHECKS_LIMITED: {
    means: "Too many signatures of contract wallets. `retry-after` says when to retry.",
    http: 429,
  },
  CHAIN_UNAVAILABLE: SHARED_ERRORS.CHAIN_UNAVAILABLE,
  STORE_UNAVAILABLE: DATABASE_ERRORS.STORE_UNAVAILABLE,
  WRONG_CHAIN: SHARED_ERRORS.WRONG_CHAIN,
  DEVELOPMENT_SENDER_REFUSED: {
    means: "The configured sender shows codes to anyone, which is refused in production and off local chains.",
  },
  CODE_NOT_SENT: { means: "The sender did not deliver the code." },
} satisfies ErrorTable;

/** Every error that the registry's routes respond with, in addition to those of every server. */
export const PHONE_ROUTE_ERRORS = {
  ...REGISTRY_ERRORS,
  ...PHONE_ERRORS,
  INVALID_ADDRESS: PROTOCOL_ERRORS.INVALID_ADDRESS,
  INVALID_SHIELDED_ADDRESS: PROTOCOL_ERRORS.INVALID_SHIELDED_ADDRESS,
  BINDING_INVALID: PROTOCOL_ERRORS.BINDING_INVALID,
  BINDING_SIGNATURE_INVALID: PROTOCOL_ERRORS.BINDING_SIGNATURE_INVALID,
  BINDING_STALE: PROTOCOL_ERRORS.BINDING_STALE,
  BINDING_FROM_THE_FUTURE: PROTOCOL_ERRORS.BINDING_FROM_THE_FUTURE,
} satisfies ErrorTable;
