import { DATABASE_ERRORS } from "@sotto/database";
import { type ErrorTable, PROTOCOL_ERRORS, SHARED_ERRORS } from "@sotto/protocol";
import { SERVER_ERRORS } from "@sotto/server";

/** The errors of the registry itself. No message contains a number, key or code. */
export const REGISTRY_ERRORS = {
  INVALID_REQUEST: SERVER_ERRORS.INVALID_REQUEST,
  INVALID_OPTIONS: {
    means: "An option of the registry is missing or malformed. The message names it.",
    cause: "A program starts the registry with a wrong type or unit.",
  },
  INVALID_KEYS: {
    means: "The key ring is empty, or has keys of the wrong size, unusable ids or duplicate ids.",
    cause: "The key file was edited by hand, or a key was added twice.",
  },
  KEY_MISMATCH: {
    means: "The database was written with a key of this id but another value.",
    cause: "A key was replaced under its old id, or the database belongs to another registry.",
  },
  KEY_MISSING: SHARED_ERRORS.KEY_MISSING,
  RECORD_TAMPERED: {
    means: "A record is not the one that the registry wrote in this row and version. It is never returned.",
    cause: "Someone changed the database, or part of it was restored from an older backup.",
  },
  SIGNATURE_INVALID: {
    means: "The wallet did not sign exactly these fields, with this time, for this registry.",
    cause: "Another account signed, the registry's public URL differs from the signed one, or a clock is wrong.",
    http: 401,
  },
  SIGNATURE_REPLAYED: {
    means: "This signed request was accepted before.",
    cause: "The client sent a request again after its response was lost, or someone copied it.",
    http: 409,
  },
  LINK_OUTDATED: {
    means: "A newer link of the number exists. Sign again.",
    cause: "Another device linked the number in the meantime.",
    http: 409,
  },
  NOT_LINKED: {
    means: "The number is not linked to this wallet.",
    cause: "The number was unlinked, or another wallet holds it.",
    http: 404,
  },
  CODE_WRONG: {
    means: "The code is wrong. Details: `triesLeft`.",
    cause: "A digit is wrong, or the code belongs to an earlier message.",
    http: 422,
  },
  CODE_EXPIRED: {
    means: "There is no code for this number and wallet, or it has expired. Link again.",
    cause: "The message arrived late, or no code was requested.",
    http: 410,
  },
  CODE_EXHAUSTED: {
    means: "The code was tried too often. Link again.",
    cause: "Someone guessed, or the same wrong code was sent repeatedly.",
    http: 410,
  },
  CODES_LIMITED: {
    means: "Too many codes or tries. Details: `scope` (number, linked, wallet, client, total) and `resetAt` (ms).",
    cause: "A program retries in a loop, or many users share one address or number.",
    http: 429,
  },
  LOOKUPS_LIMITED: {
    means: "Too many lookups. Details: `scope` (client, clientRange, range, caller) and `resetAt` (ms).",
    cause: "A program asks for many numbers, or many users share one address.",
    http: 429,
  },
  NONCE_REFUSED: {
    means: "The nonce of a signed request was used before, or its deadline has passed or is too far off.",
    cause: "The request was sent twice or arrived late, or a clock is wrong.",
    http: 401,
  },
  REGISTRY_CLOSED: {
    means: "The registry is shutting down. Try again.",
    cause: "The operator restarts or updates the registry.",
    http: 503,
  },
} satisfies ErrorTable;

/** The errors of its HTTP layer, of its start and of the senders of codes. */
export const PHONE_ERRORS = {
  INVALID_PHONE_NUMBER: {
    means: "A value is not a possible phone number.",
    cause: "A digit is missing, or the country code is wrong.",
    http: 400,
  },
  AMBIGUOUS_PHONE_NUMBER: {
    means: "The digits can be read as two different phone numbers. Write + and the country code.",
    cause: "The number was written without its country code.",
    http: 400,
  },
  NUMBER_NOT_SERVED: {
    means: "The registry does not link numbers of this kind or country.",
    cause: "The operator allows only certain countries, or only mobile numbers.",
    http: 422,
  },
  UNKNOWN_NUMBER: {
    means: "No wallet is linked to the number.",
    cause: "The holder has not linked the number here, or has unlinked it.",
    http: 404,
  },
  LOOKUP_SIGNATURE_REQUIRED: {
    means: "The registry answers signed lookups only.",
    cause: "The operator requires signed lookups, so that the registry can limit each wallet.",
    http: 401,
  },
  CONTRACT_CHECKS_LIMITED: {
    means: "Too many signatures of contract wallets. `retry-after` says when to retry.",
    cause: "Many contract wallets link at the same time, or someone tests invalid signatures.",
    http: 429,
  },
  CHAIN_UNAVAILABLE: SHARED_ERRORS.CHAIN_UNAVAILABLE,
  STORE_UNAVAILABLE: DATABASE_ERRORS.STORE_UNAVAILABLE,
  WRONG_CHAIN: SHARED_ERRORS.WRONG_CHAIN,
  DEVELOPMENT_SENDER_REFUSED: {
    means:
      "The configured sender shows codes to anyone, which is refused in production and on chains that are not local.",
    cause: "The settings of a local test run are used on a real chain or in production.",
  },
  CODE_NOT_SENT: {
    means: "The sender did not deliver the code.",
    cause: "The webhook is down or refuses the request, or the number cannot receive messages.",
  },
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
