import { assertTimestamp, type Bytes32, resourceHash } from "../contexts.ts";
import type { Deployment } from "../deployment.ts";
import { describe, fail, recode } from "../errors.ts";
import { type Address, parseAddress } from "../ethereum-address.ts";
import { bytesToHex, hexToBytes } from "../hex.ts";
import { fieldsOf, parseText } from "../object-fields.ts";
import { assertInteger, assertObject, CANONICAL_DECIMAL, parseField } from "../validate.ts";
import { assertStatement, type PaymentStatement } from "./statement.ts";

/**
 * The `typ` of a payment token's header. It must change if a claim is removed or its meaning changes: tokens with the
 * type "sotto-payment+jwt" contained the resource's URL.
 */
export const TOKEN_TYPE = "sotto-payment-2+jwt";

/** Maximum length of a payment token, characters; the length of every claim is limited. */
export const MAX_PAYMENT_TOKEN_LENGTH = 2048;

/** The claims of a payment token besides iss, iat and exp. Numbers that may exceed 2^53 are decimal strings. */
export interface PaymentTokenClaims {
  /** Id of the reservation, and afterwards of the payment. */
  readonly jti: string;
  /** keccak256 of the public signals. */
  readonly digest: Bytes32;
  /** EIP-155 id, decimal. */
  readonly chainId: string;
  /** The pool that settles the payment. */
  readonly pool: Address;
  /** The recipient's wallet. */
  readonly recipient: Address;
  /** PK.x of the recipient's shielded address, decimal. */
  readonly recipientKey: string;
  /** Owner tag of the recipient's shielded address, decimal. */
  readonly recipientTag: string;
  /** keccak256 of the resource's URL, see `resourceHash`. The URL itself could take up too much of a header. */
  readonly resourceHash: Bytes32;
  /** Opens signals 0 and 1 for the resource server; decimal. */
  readonly senderCommitment: string;
  /** Nullifier of the spent note, decimal. */
  readonly nullifier: string;
  /** The bundle's timestamp, ms. */
  readonly timestamp: number;
  /** Last second in which the pool settles the payment, Unix time. */
  readonly validUntil: number;
}

/**
 * Parses an EIP-155 chain id of the wire: a canonical decimal string below 2^256.
 * @throws SottoError INVALID_INTEGER
 */
export function parseChainId(value: unknown): bigint {
  const decimal =
    typeof value === "string" && value.length <= 78 && CANONICAL_DECIMAL.test(value) ? BigInt(value) : -1n;
  if (decimal < 0n || decimal >= 1n << 256n)
    fail("INVALID_INTEGER", `chainId must be a decimal string below 2^256, got ${describe(value)}`);
  return decimal;
}

const decimalField = (value: unknown, name: string): string => String(parseField(value, name));

/**
 * Parses a token's claims strictly. Ignores unknown claims. The caller must have verified the token's signature.
 * @param value the payload's parsed JSON
 * @throws SottoError TOKEN_CLAIMS_INVALID
 */
export function parseTokenClaims(value: unknown): PaymentTokenClaims {
  const claim = fieldsOf(value, "a token's payload", "TOKEN_CLAIMS_INVALID");
  return recode("TOKEN_CLAIMS_INVALID", "not the claims of a payment token", () => ({
    jti: parseText(claim("jti"), /^[A-Za-z0-9_-]{1,64}$/, "jti", "1 to 64 letters, digits, - or _"),
    digest: bytesToHex(hexToBytes(claim("digest"), 32, "digest")),
    chainId: String(parseChainId(claim("chainId"))),
    pool: parseAddress(claim("pool"), "pool"),
    recipient: parseAddress(claim("recipient"), "recipient"),
    recipientKey: decimalField(claim("recipientKey"), "recipientKey"),
    recipientTag: decimalField(claim("recipientTag"), "recipientTag"),
    resourceHash: bytesToHex(hexToBytes(claim("resourceHash"), 32, "resourceHash")),
    senderCommitment: decimalField(claim("senderCommitment"), "senderCommitment"),
    nullifier: decimalField(claim("nullifier"), "nullifier"),
    timestamp: assertTimestamp(claim("timestamp")),
    validUntil: assertInteger(claim("validUntil"), 0, Number.MAX_SAFE_INTEGER, "validUntil"),
  }));
}

/** The claims of a token for this payment, without the reservation's id. */
export function tokenClaims(statement: PaymentStatement, deployment: Deployment): Omit<PaymentTokenClaims, "jti"> {
  assertStatement(statement);
  assertObject(deployment, "the deployment");
  const { chainId, pool } = deployment;
  const { bundle, signals, range, digest, validUntil } = statement;
  return {
    digest,
    chainId: String(chainId),
    pool: parseAddress(pool, "pool"),
    recipient: bundle.recipientPublicKey,
    recipientKey: String(range.recipientKey),
    recipientTag: String(range.recipientTag),
    resourceHash: resourceHash(bundle.resourceUrl),
    senderCommitment: String(bundle.senderCommitment),
    nullifier: String(signals.nullifier),
    timestamp: bundle.timestamp,
    validUntil: Number(validUntil),
  };
}

/** The name of the first claim that differs from the expected one. */
export function differingClaim(
  claims: PaymentTokenClaims,
  expected: Omit<PaymentTokenClaims, "jti">,
): keyof PaymentTokenClaims | undefined {
  for (const part of [claims, expected]) assertObject(part, "the claims");
  const names = Object.keys(expected) as (keyof typeof expected)[];
  return names.find((name) => claims[name] !== expected[name]);
}
