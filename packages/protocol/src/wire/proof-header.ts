import { assertTimestamp, type Bytes32 } from "../contexts.ts";
import { type Ciphertext, unpackCiphertext } from "../elgamal.ts";
import { describe, fail, ProtocolError, recode } from "../errors.ts";
import { type Address, parseAddress } from "../ethereum-address.ts";
import { type Fields, fieldsOf, MAX_URL_LENGTH, readText } from "../fields.ts";
import { CIRCUITS } from "../generated/circuits.ts";
import { bytesToHex, hexToBytes } from "../hex.ts";
import type { WireBundle } from "../payment/bundle.ts";
import { MAX_PAYMENT_TOKEN_LENGTH } from "../payment/claims.ts";
import { assertArray, assertObject, assertText, parseBaseField, parseField } from "../validate.ts";

/** Characters of an X-Payment-Proof header, all ASCII. Servers commonly take 16 KB of headers in all. */
export const MAX_PROOF_HEADER_LENGTH = 8192;

/** Digits of an element of either field. */
const MAX_DECIMAL_LENGTH = 77;

/** What a payer shows to the resource server, with its values read. */
export interface ProofHeader {
  /** Groth16 proof of the payment circuit, eight words. */
  readonly proof: readonly bigint[];
  /** Its ten public signals. */
  readonly publicSignals: readonly bigint[];
  readonly encryptedAmount: Ciphertext;
  /** Groth16 proof of the elgamal_range circuit, eight words. */
  readonly amountProof: readonly bigint[];
  /** The recipient's wallet. */
  readonly recipientPublicKey: Address;
  /** Of the bundle, milliseconds since the Unix epoch. */
  readonly timestamp: number;
  /** The service's token, its three parts not yet read. */
  readonly paymentToken: string;
  /** Hash of the transaction that settled it. */
  readonly txSignature: Bytes32;
  /** The rest of the bundle, where it was sent: what follows is also known to the server, or in the token. */
  readonly senderCommitment?: bigint;
  readonly amountPublicSignals?: readonly bigint[];
  readonly resourceUrl?: string;
}

export interface ProofHeaderContent {
  readonly bundle: WireBundle;
  readonly paymentToken: string;
  readonly txSignature: Bytes32;
}

/** JSON in ASCII: a header carries no other characters. */
const ascii = (value: object): string =>
  JSON.stringify(value).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const encode = (listed: object, rest: object, paid: object): string => ascii({ ...listed, ...rest, ...paid });

/**
 * The header's value: the listed fields, and the rest of the bundle if there is room.
 *
 * @param limit characters that the server takes, at most MAX_PROOF_HEADER_LENGTH
 * @throws SottoError PROOF_HEADER_INVALID, also for a header that is longer than the limit
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
    // Reading it finds everything else that is wrong with it.
    parseProofHeader(header);
    if (header.length > limit)
      fail("INVALID_STRING", `the header has ${header.length} characters, the server takes ${limit}`);
    return header;
  });
}

/**
 * Characters of the longest header that a payment for this resource can have.
 *
 * @param resourceUrl left out: a header without the rest of the bundle, which is all that a resource server needs
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

/** The fields that may be left out; one that is there must be right. */
function readRest(field: Fields): Pick<ProofHeader, "senderCommitment" | "amountPublicSignals" | "resourceUrl"> {
  const [sender, url] = [field("senderCommitment"), field("resourceUrl")];
  const signals = CIRCUITS.elgamal_range.publicSignalCount;
  const rest = {
    ...(sender === undefined ? {} : { senderCommitment: parseField(sender, "senderCommitment") }),
    ...(field("amountPublicSignals") === undefined
      ? {}
      : { amountPublicSignals: words(field, "amountPublicSignals", signals, parseField) }),
    ...(url === undefined ? {} : { resourceUrl: assertText(url, "resourceUrl") }),
  };
  if ((rest.resourceUrl?.length ?? 0) > MAX_URL_LENGTH) fail("INVALID_STRING", "resourceUrl is too long");
  return rest;
}

function read(field: Fields): ProofHeader {
  const header = {
    proof: words(field, "proof", 8, parseBaseField),
    publicSignals: words(field, "publicSignals", CIRCUITS.payment.publicSignalCount, parseField),
    amountProof: words(field, "amountProof", 8, parseBaseField),
    recipientPublicKey: parseAddress(field("recipientPublicKey"), "recipientPublicKey"),
    timestamp: assertTimestamp(field("timestamp")),
    paymentToken: readText(
      field("paymentToken"),
      /^[\w-]+\.[\w-]+\.[\w-]+$/,
      "paymentToken",
      "three parts of base64url with dots between them",
    ),
    txSignature: bytesToHex(hexToBytes(field("txSignature"), 32, "txSignature")),
    ...readRest(field),
  };
  // Points last: decoding them is the expensive part.
  return { ...header, encryptedAmount: unpackCiphertext(field("encryptedAmount") as string) };
}

function parseJson(value: unknown): unknown {
  if (typeof value !== "string")
    fail("PROOF_HEADER_NOT_JSON", `the header's one value was expected, got ${describe(value)}`);
  if (value.length > MAX_PROOF_HEADER_LENGTH)
    fail("PROOF_HEADER_NOT_JSON", `the header has ${value.length} characters, ${MAX_PROOF_HEADER_LENGTH} are allowed`);
  if (!/^[\t -~]*$/.test(value))
    fail("PROOF_HEADER_NOT_JSON", "the header holds characters that are not printable ASCII");
  try {
    return JSON.parse(value);
  } catch (cause) {
    throw new ProtocolError("PROOF_HEADER_NOT_JSON", (cause as Error).message, {}, { cause });
  }
}

/**
 * Reads a header's value strictly. Whether its proofs hold, for whom and for what, is for the caller to check; so is that
 * the ciphertext is the one of the signals, once the sender commitment is known. Unknown fields are left alone.
 *
 * @throws SottoError PROOF_HEADER_NOT_JSON, whose message is the JSON parser's: it may quote some characters of the
 * header, so it goes to the sender and into no log; PROOF_HEADER_INVALID, whose message names the field
 */
export function parseProofHeader(value: string): ProofHeader {
  const field = fieldsOf(parseJson(value), "a payment proof", "PROOF_HEADER_INVALID");
  return recode("PROOF_HEADER_INVALID", "not a payment proof", () => read(field));
}
