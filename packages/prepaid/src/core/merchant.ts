import { type Address, assertUint, parseAddress } from "@sotto/protocol";
import { assertInteger, assertText, type StructFields } from "@sotto/protocol/extend";
import { prepaidChallengeDigest } from "./token.ts";

/** A merchant with the deployment in which it is paid. Amounts are base units of that pool's token. */
export interface PrepaidMerchant {
  /** The merchant's wallet, which signs schedules and terms. */
  readonly wallet: Address;
  /** EIP-155 id of the chain on which packs are paid, below 2^53. */
  readonly chainId: bigint;
  /** The pool in which packs are paid. */
  readonly pool: Address;
  /** Origin at which the tokens are spent, such as "https://data.example". */
  readonly origin: string;
}

/** A merchant as JSON. */
export interface WirePrepaidMerchant {
  /** The merchant's wallet, 20 bytes as lower-case hex with 0x. */
  readonly wallet: string;
  /** EIP-155 id. */
  readonly chainId: number;
  /** The pool in which packs are paid, 20 bytes as lower-case hex with 0x. */
  readonly pool: string;
  /** Origin at which the tokens are spent, such as "https://data.example". */
  readonly origin: string;
}

/** Maximum number of schedules, and of terms, that a mirror lists for one wallet and origin: a client reads all of them. */
export const MAX_MIRRORED = 24;

/** The merchant's fields in the structs that its wallet signs. */
export const MERCHANT_FIELDS = [
  { name: "wallet", type: "address" },
  { name: "chainId", type: "uint256" },
  { name: "pool", type: "address" },
  { name: "origin", type: "string" },
] as const satisfies StructFields;
/** The names of the merchant's fields, in structs and in JSON. */
export const MERCHANT_NAMES = MERCHANT_FIELDS.map(({ name }) => name);

/** The merchant's fields of an object, without others. @throws SottoError INVALID_ADDRESS, INVALID_INTEGER, INVALID_STRING */
export function merchantOf(value: Readonly<Record<keyof PrepaidMerchant, unknown>>): PrepaidMerchant {
  const origin = assertText(value.origin, "origin");
  prepaidChallengeDigest(origin);
  return {
    wallet: parseAddress(value.wallet, "wallet"),
    // JSON writes it as a number.
    chainId: assertUint(value.chainId, 53, "chainId"),
    pool: parseAddress(value.pool, "pool"),
    origin,
  };
}

/** The merchant's fields for JSON. @throws the errors of {@link merchantOf} */
export function encodeMerchant(value: PrepaidMerchant): WirePrepaidMerchant {
  const { wallet, chainId, pool, origin } = merchantOf(value);
  return { wallet, chainId: Number(chainId), pool, origin };
}

/** Inverse of {@link encodeMerchant}. @throws the errors of {@link merchantOf} */
export const decodeMerchant = (wire: Readonly<Record<keyof WirePrepaidMerchant, unknown>>): PrepaidMerchant =>
  merchantOf({ ...wire, chainId: BigInt(assertInteger(wire.chainId, 0, Number.MAX_SAFE_INTEGER, "chainId")) });

/** Whether two objects are of one merchant and deployment. */
export const isSameMerchant = (one: PrepaidMerchant, other: PrepaidMerchant): boolean =>
  MERCHANT_NAMES.every((name) => one[name] === other[name]);
