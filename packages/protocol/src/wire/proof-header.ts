import { assertTimestamp, type Bytes32 } from "../contexts.ts";
import { type Ciphertext, unpackCiphertext } from "../elgamal.ts";
import { describe, fail, ProtocolError, recode } from "../errors.ts";
import { type Address, parseAddress } from "../ethereum-address.ts";
import { CIRCUITS } from "../generated/circuits.ts";
import { bytesToHex, hexToBytes } from "../hex.ts";
import { type Fields, fieldsOf, MAX_URL_LENGTH, parseText } from "../object-fields.ts";
import type { WireBundle } from "../payment/bundle.ts";
import { MAX_PAYMENT_TOKEN_LENGTH } from "../payment/claims.ts";
import { assertArray, assertObject, assertText, parseBaseField, parseField } from "../validate.ts";

/** Maximum length of an X-Payment-Proof header, characters. Servers commonly accept 16 KB of headers in total. */
export const MAX_PROOF_HEADER_LENGTH = 8192;

/** Maximum number of decimal digits of an element of either field. */
const MAX_DECIMAL_LENGTH = 77;

/** The parsed header with which a client proves its payment to a resource server. */
export interface ProofHeader {
  /** Groth16 proof of the payment circuit, eight words. */
  readonly proof: readonly bigint[];
  /** Its public signals. */
  readonly publicSignals: readonly bigint[];
  /** ElGamal ciphertext of the amount: two points of the prime-order subgroup. */
  readonly encryptedAmount: Ciphertext;
  /** Groth16 proof of the elgamal_range circuit, eight words. */
  readonly amountProof: readonly bigint[];
  /** The recipient's wallet. */
  readonly recipientPublicKey: Address;
  /** The bundle's timestamp, milliseconds since the Unix epoch. */
  readonly timestamp: number;
  /** The service's payment token, not decoded yet. */
  readonly paymentToken: string;
  /** Hash of the transaction that settled the payment, 32 bytes. */
  readonly txSignature: Bytes32;
  /** Optional like the next two fields: the resource server knows their values, or reads them from the token. */
  readonly senderCommitment?: bigint | undefined;
  /** The six public signals of the amount proof. */
  readonly amountPublicSignals?: readonly bigint[] | undefined;
  /** The URL that is paid for, 1 to 2,048 characters. */
  readonly resourceUrl?: string | undefined;
}

/** The values that the proof header contains. */
export interface ProofHeaderContent {
  /** The bundle that was verified and settled. */
  readonly bundle: WireBundle;
  /** The service's payment token: three base64url parts, at most 2,048 characters. */
  readonly paymentToken: string;
  /** Hash of the transaction that settled the payment, 32 bytes. */
  readonly txSignature: Bytes32;
}

/** JSON in ASCII, because a header cannot carry other characters. */
const ascii = (value: object): string =>
  JSON.stringify(value).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const encode = (listed: object, rest: object, paid: object): string => ascii({ ...listed, ...rest, ...paid });

/**
 * The header's value: the required fields and, if there is room, the rest of the bundle.
 * @param limit length that the server accepts, characters, at most MAX_PROOF_HEADER_LENGTH
 * @throws SottoError PROOF_HEADER_INVALID, including if the header is longer than the limit
 */
export function encodeProofHeader(content: ProofHeaderContent, limit = MAX_PROOF_HEADER_LENGTH): string {
  return recode("PROOF_HEADER_INVALID", "not a proof header", () => {
    for (const part of [content, Object(content).bundle]) assertObject(part, "the content and its bundle");
    const { bundle, paymentToken, txSignature } = content;
    const { proof, publicSignals, encryptedAmount, amountProof, recipientPublicKey, timestamp } = bundle;
    const { senderCommitment, amountPublicSignals, resourceUrl } = bundle;
    const listed = { proof, publicSignals, encryptedAmount, amountProof, recipientPublicKey, timestamp };
    const paid = { paymentToken, txSignature };
    const full = encode(listed, { senderCommitment, amountPublicSignals, resourceUrl }, paid);
    const header = full.length <= limit ? full : encode(listed, {}, paid);
    // Parsing it detects any other error in it.
    parseProofHeader(header);
    if (header.length > limit)
      fail("INVALID_STRING", `the header has ${header.length} characters, but the server accepts ${limit}`);
    return header;
  });
}

/**
 * Length of the longest header that a payment for this resource can have, characters.
 * @param resourceUrl Default: none, which gives the length of a header with only the required fields, all that a
 * resource server needs
 * @throws SottoError INVALID_STRING if it is not a text
 */
export function maxProofHeaderLength(resourceUrl?: string): number {
  if (resourceUrl !== undefined) assertText(resourceUrl, "resourceUrl");
  const decimal = "9".repeat(MAX_DECIMAL_LENGTH);
  const decimals = (count: number) => Array.from({ length: count }, () => decimal);
  const listed = {
    proof: decimals(8),
    publicSignals: decimals(CIRCUITS.payment.publicSignalCount),
    encryptedAmount: `0x${"f".repeat(128)}`,
    amountProof: decimals(8),
    recipientPublicKey: `0x${"f".repeat(40)}`,
    timestamp: Number.MAX_SAFE_INTEGER,
  };
  const amountPublicSignals = decimals(CIRCUITS.elgamal_range.publicSignalCount);
  const rest = resourceUrl === undefined ? {} : { senderCommitment: decimal, amountPublicSignals, resourceUrl };
  const paymentToken = "t".repeat(MAX_PAYMENT_TOKEN_LENGTH);
  return encode(listed, rest, { paymentToken, txSignature: `0x${"f".repeat(64)}` }).length;
}

const words = (field: Fields, name: string, length: number, parse: (value: unknown, name: string) => bigint) =>
  assertArray(field(name), length, "INVALID_ARGUMENT", name).map((word, i) => parse(word, `${name}[${i}]`));

/** The optional fields; a field that is present must be valid. */
function parseRest(field: Fields): Pick<ProofHeader, "senderCommitment" | "amountPublicSignals" | "resourceUrl"> {
  const optional = <T>(name: string, parse: (value: unknown) => T) =>
    field(name) === undefined ? undefined : parse(field(name));
  const rest = {
    senderCommitment: optional("senderCommitment", (value) => parseField(value, "senderCommitment")),
    amountPublicSignals: optional("amountPublicSignals", () =>
      words(field, "amountPublicSignals", CIRCUITS.elgamal_range.publicSignalCount, parseField),
    ),
    resourceUrl: optional("resourceUrl", (value) => assertText(value, "resourceUrl")),
  };
  const length = rest.resourceUrl?.length ?? 0;
  if (length > MAX_URL_LENGTH)
    fail("INVALID_STRING", `resourceUrl must have at most ${MAX_URL_LENGTH} characters, got ${length}`);
  return rest;
}

function read(field: Fields): ProofHeader {
  const header = {
    proof: words(field, "proof", 8, parseBaseField),
    publicSignals: words(field, "publicSignals", CIRCUITS.payment.publicSignalCount, parseField),
    amountProof: words(field, "amountProof", 8, parseBaseField),
    recipientPublicKey: parseAddress(field("recipientPublicKey"), "recipientPublicKey"),
    timestamp: assertTimestamp(field("timestamp")),
    paymentToken: parseText(
      field("paymentToken"),
      /^[\w-]+\.[\w-]+\.[\w-]+$/,
      "paymentToken",
      "three base64url parts separated by dots",
    ),
    txSignature: bytesToHex(hexToBytes(field("txSignature"), 32, "txSignature")),
    ...parseRest(field),
  };
  // Decode the points last, because that is the expensive part.
  return { ...header, encryptedAmount: unpackCiphertext(field("encryptedAmount") as string) };
}

function parseJson(value: unknown): unknown {
  if (typeof value !== "string") fail("PROOF_HEADER_NOT_JSON", `the header must be one string, got ${describe(value)}`);
  if (value.length > MAX_PROOF_HEADER_LENGTH)
    fail(
      "PROOF_HEADER_NOT_JSON",
      `the header has ${value.length} characters, but at most ${MAX_PROOF_HEADER_LENGTH} are allowed`,
    );
  if (!/^[\t -~]*$/.test(value))
    fail("PROOF_HEADER_NOT_JSON", "the header contains characters that are not printable ASCII");
  try {
    return JSON.parse(value);
  } catch (cause) {
    throw new ProtocolError("PROOF_HEADER_NOT_JSON", (cause as Error).message, {}, { cause });
  }
}

/**
 * Parses a header's value strictly. Ignores unknown fields. The caller verifies the proofs, checks the recipient and the
 * resource and, once it knows the sender commitment, checks that the ciphertext matches the signals.
 * @throws SottoError PROOF_HEADER_NOT_JSON with the JSON parser's message, which may quote the header: return it to the
 *   client, but do not log it. PROOF_HEADER_INVALID with a message that names the field
 */
export function parseProofHeader(value: string): ProofHeader {
  const field = fieldsOf(parseJson(value), "a payment proof", "PROOF_HEADER_INVALID");
  return recode("PROOF_HEADER_INVALID", "not a payment proof", () => read(field));
}
