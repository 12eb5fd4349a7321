import { assertTimestamp, type Bytes32, resourceHash } from "../contexts.ts";
import type { Deployment } from "../deployment.ts";
import { fail, recode } from "../errors.ts";
import { type Address, parseAddress } from "../ethereum-address.ts";
import { fieldsOf, readText } from "../fields.ts";
import { bytesToHex, hexToBytes } from "../hex.ts";
import { assertInteger, assertObject, CANONICAL_DECIMAL, parseField } from "../validate.ts";
import { assertStatement, type PaymentStatement } from "./statement.ts";

/**
 * The `typ` of a payment token's header. A claim that is removed or changes its meaning comes with another one: tokens of
 * "sotto-payment+jwt" repeated the resource's URL.
 */
export const TOKEN_TYPE = "sotto-payment-2+jwt";

/** Characters of a payment token: every claim is of limited length. */
export const MAX_PAYMENT_TOKEN_LENGTH = 2048;

/** What a payment token says, beside iss, iat and exp. Numbers that may pass 2^53 are decimal strings. */
export interface PaymentTokenClaims {
  /** The reservation's id, and the payment's from then on. */
  readonly jti: string;
  /** keccak256 of the ten public signals. */
  readonly digest: Bytes32;
  readonly chainId: string;
  readonly pool: Address;
  /** The recipient's wallet. */
  readonly recipient: Address;
  /** PK.x and owner tag of the recipient's shielded address. */
  readonly recipientKey: string;
  readonly recipientTag: string;
  /** keccak256 of the resource's URL: see `resourceHash`. The URL itself would take too much of a header. */
  readonly resourceHash: Bytes32;
  /** It opens signals 0 and 1 for the resource server. */
  readonly senderCommitment: string;
  readonly nullifier: string;
  /** Of the bundle, ms. */
  readonly timestamp: number;
  /** Seconds. */
  readonly validUntil: number;
}

/** EIP-155 chain id on the wire: canonical decimal below 2^256. Throws INVALID_INTEGER. */
export function readChainId(value: unknown): bigint {
  const decimal =
    typeof value === "string" && value.length <= 78 && CANONICAL_DECIMAL.test(value) ? BigInt(value) : -1n;
  if (decimal < 0n || decimal >= 1n << 256n) fail("INVALID_INTEGER", "chainId must be a decimal string below 2^256");
  return decimal;
}

const decimalField = (value: unknown, name: string): string => String(parseField(value, name));

/**
 * Reads a token's claims strictly; others beside them are left out. That the token is signed, and by whom, is for the
 * caller to have checked.
 *
 * @param value the payload, parsed
 * @throws SottoError TOKEN_CLAIMS_INVALID
 */
export function parseTokenClaims(value: unknown): PaymentTokenClaims {
  const claim = fieldsOf(value, "a token's payload", "TOKEN_CLAIMS_INVALID");
  return recode("TOKEN_CLAIMS_INVALID", "not the claims of a payment token", () => ({
    jti: readText(claim("jti"), /^[A-Za-z0-9_-]{1,64}$/, "jti", "1 to 64 letters, digits, - or _"),
    digest: bytesToHex(hexToBytes(claim("digest"), 32, "digest")),
    chainId: String(readChainId(claim("chainId"))),
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

/** What a token for this payment says, but for the id of its reservation. */
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

/** The first claim that is not the expected one. */
export function differingClaim(
  claims: PaymentTokenClaims,
  expected: Omit<PaymentTokenClaims, "jti">,
): keyof PaymentTokenClaims | undefined {
  for (const part of [claims, expected]) assertObject(part, "the claims");
  const names = Object.keys(expected) as (keyof typeof expected)[];
  return names.find((name) => claims[name] !== expected[name]);
}
