// What client and server of prepaid tokens must write alike: paths, the purchase's target, the request header.
import { hexToBytes } from "@sotto/protocol";
import { decodeBase64url, describe, encodeBase64url, fail } from "@sotto/protocol/extend";
import { PREPAID_PACK_SIZES } from "./pack.ts";
import { decodePrepaidToken, encodePrepaidToken, PREPAID_TOKEN_BYTES, type PrepaidToken } from "./token.ts";

/** Path of the purchase, at the merchant's origin. */
export const PREPAID_PATH = "/.well-known/sotto/prepaid";
/** Path of the merchant's signed schedules. */
export const PREPAID_KEYS_PATH = `${PREPAID_PATH}/keys`;
/** Path that returns the signatures of a pack that was paid for. */
export const PREPAID_RECOVER_PATH = `${PREPAID_PATH}/recover`;
/** Request header with one token. */
export const PREPAID_HEADER = "X-Payment-Token";

/** The terms of a purchase. They are its query, so the payment is bound to them. A recovery has the same query. */
export interface PrepaidPurchase {
  /** Id of the key, 32 bytes, hex with 0x. */
  readonly key: string;
  /** Number of tokens: 1, 100 or 1000. */
  readonly count: number;
  /** SHA-256 of the request's body, 32 bytes, hex with 0x. */
  readonly batch: string;
}

/**
 * The request target of a purchase. Equal purchases have equal targets.
 * @throws SottoError INVALID_HEX, INVALID_ARGUMENT
 */
export const prepaidPurchaseTarget = (purchase: PrepaidPurchase): string => `${PREPAID_PATH}?${queryOf(purchase)}`;

/** The request target that recovers the pack of a purchase. @throws SottoError INVALID_HEX, INVALID_ARGUMENT */
export const prepaidRecoverTarget = (purchase: PrepaidPurchase): string =>
  `${PREPAID_RECOVER_PATH}?${queryOf(purchase)}`;

function queryOf({ key, count, batch }: PrepaidPurchase): string {
  hexToBytes(key, 32, "key");
  hexToBytes(batch, 32, "batch");
  if (!(PREPAID_PACK_SIZES as readonly unknown[]).includes(count))
    fail("INVALID_ARGUMENT", `a pack must have ${PREPAID_PACK_SIZES.join(" or ")} tokens, got ${describe(count)}`);
  return `key=${key}&n=${count}&batch=${batch}`;
}

const PURCHASE = /^key=(0x[0-9a-f]{64})&n=([0-9]{1,4})&batch=(0x[0-9a-f]{64})$/;

/**
 * Inverse of `prepaidPurchaseTarget` and `prepaidRecoverTarget`, for the part after the question mark.
 * @throws SottoError INVALID_ARGUMENT if a parameter is missing, wrong, repeated, or in another order
 */
export function parsePrepaidPurchase(query: unknown): PrepaidPurchase {
  const match = typeof query === "string" ? PURCHASE.exec(query) : null;
  const count = (PREPAID_PACK_SIZES as readonly number[]).find((size) => String(size) === match?.[2]);
  if (match === null || count === undefined)
    fail(
      "INVALID_ARGUMENT",
      `a purchase's query must be key=0x..&n=${PREPAID_PACK_SIZES.join("|")}&batch=0x.., in this order`,
    );
  return { key: match[1]!, count, batch: match[3]! };
}

/**
 * The value of the request header for a token: base64url, 472 characters.
 * @throws SottoError INVALID_ARGUMENT, INVALID_HEX
 */
export const encodePrepaidHeader = (token: PrepaidToken): string => encodeBase64url(encodePrepaidToken(token));

/** Inverse of `encodePrepaidHeader`. Does not check the signature. @throws SottoError INVALID_ARGUMENT */
export const decodePrepaidHeader = (value: unknown): PrepaidToken =>
  decodePrepaidToken(decodeBase64url(value, PREPAID_TOKEN_BYTES, "a prepaid token"));
