// What client and server of metered credit must write alike: paths, headers, and the JSON of the 402, of terms, of claims of
// change and of swaps.
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { assertAmount, type Bytes32, bytesToHex, hexToBytes, isBytes } from "@sotto/protocol";
import {
  assertObject,
  assertText,
  decodeBase64url,
  describe,
  encodeBase64url,
  fail,
  parseAmount,
  readStrictJson,
  recode,
} from "@sotto/protocol/extend";
import { ED25519_KEY_BYTES, ED25519_SIGNATURE_BYTES } from "../ed25519.ts";
import { laterEpoch } from "../epoch.ts";
import { PREPAID_KEY_BYTES } from "../key.ts";
import { assertPrepaidValue } from "../values.ts";
import { decodePrepaidHeader, PREPAID_PATH } from "../wire.ts";
import { MAX_CHANGE_TOKENS } from "./change.ts";
import type { ChangeClaim, ChangeClaimProof, TokenName } from "./claim.ts";
import { assertList, exactFields } from "./fields.ts";
import { formatReceipt, parseReceipt, type SignedReceipt } from "./receipt.ts";
import {
  decodeSignedTerms,
  encodeSignedTerms,
  MAX_SIGNED_TERMS_BYTES,
  type SignedMeteredTerms,
} from "./signed-terms.ts";

/** Path of the merchant's signed terms, at its origin. */
export const PREPAID_TERMS_PATH = `${PREPAID_PATH}/terms`;
/** Path that says what was charged, and signs change. */
export const PREPAID_CHANGE_PATH = `${PREPAID_PATH}/change`;
/** Path that signs fewer tokens for several. */
export const PREPAID_SWAP_PATH = `${PREPAID_PATH}/swap`;
/** Request header with the hash of the rule to which the payer agrees. */
export const METERED_RULE_HEADER = "X-Payment-Rule";
/** Response header with the charge in base units, if it is final before the headers leave. Nobody signed it. */
export const METERED_CHARGE_HEADER = "X-Payment-Charge";

/** Maximum size of the body of a claim or swap, and of its answer, bytes. */
export const MAX_METERED_BODY_BYTES = 16 * 1024;
/** Maximum number of signed terms that a merchant shows at once. */
export const MAX_METERED_TERMS = 4;
/** Maximum size of the answer with all signed terms, bytes. */
export const MAX_TERMS_ANSWER_BYTES = MAX_METERED_TERMS * MAX_SIGNED_TERMS_BYTES;
/** Maximum number of tokens that a swap spends. */
export const MAX_SWAP_SPENDS = 5;
/** A swap spends at least two tokens, and signs one or two. */
const [MIN_SWAP_SPENDS, MAX_SWAP_TOKENS] = [2, 2];
const SWAP = "sotto/v1/prepaid-swap\n";

const sizeOf = (text: string): number => utf8ToBytes(text).length;

function readJson(text: unknown, max: number, what: string): unknown {
  // The length is compared first, so that a huge text is not encoded.
  if (typeof text !== "string" || text.length > max || sizeOf(text) > max)
    fail("INVALID_ARGUMENT", `${what} must be JSON of at most ${max} bytes, got ${describe(text)}`);
  return readStrictJson(text, what, (_, problem) => fail("INVALID_ARGUMENT", problem));
}

const hashOf = (value: unknown, name: string): Bytes32 => bytesToHex(hexToBytes(value, 32, name));

/** Checks 1 to `max` blinded messages or signatures, concatenated. */
function assertMessages(bytes: unknown, max: number, name: string): Uint8Array {
  if (!isBytes(bytes) || bytes.length === 0 || bytes.length % PREPAID_KEY_BYTES > 0)
    fail("INVALID_ARGUMENT", `${name} must be messages of ${PREPAID_KEY_BYTES} bytes each, got ${describe(bytes)}`);
  if (bytes.length > max * PREPAID_KEY_BYTES)
    fail("INVALID_ARGUMENT", `${name} must have at most ${max} messages, got ${bytes.length / PREPAID_KEY_BYTES}`);
  return bytes;
}

function decodeMessages(text: unknown, max: number, name: string): Uint8Array {
  const size = typeof text === "string" ? Math.floor((text.length * 3) / 4) : 0;
  if (size === 0 || size % PREPAID_KEY_BYTES > 0 || size > max * PREPAID_KEY_BYTES)
    fail("INVALID_ARGUMENT", `${name} must be base64url of 1 to ${max} messages of ${PREPAID_KEY_BYTES} bytes`);
  return decodeBase64url(text, size, name);
}

/** What the 402 of a metered route says, the same for every payer. */
export interface MeteredOffer {
  /** Maximum charge, and the value of the token to show, base units. */
  readonly cap: bigint;
  /** The route's `meteredRuleHash`, hex with 0x. */
  readonly rule: string;
  /** Id of the key that signs tokens of the cap's value now, hex with 0x. */
  readonly tokenKeyId: string;
  /** The `meteredTermsDigest` of the signed terms that list the route, hex with 0x. */
  readonly terms: string;
}

/** The field `payment.metered` of a 402. */
export interface WireMeteredOffer {
  /** Base units, decimal. */
  readonly cap: string;
  /** 32 bytes, hex with 0x. */
  readonly rule: string;
  /** 32 bytes, hex with 0x. */
  readonly tokenKeyId: string;
  /** 32 bytes, hex with 0x. */
  readonly terms: string;
}

/** The offer of a metered route for JSON. @throws SottoError INVALID_ARGUMENT */
export const encodeMeteredOffer = (offer: MeteredOffer): WireMeteredOffer =>
  recode("INVALID_ARGUMENT", "not the offer of a metered route", () => {
    assertObject(offer, "the offer");
    const cap = String(assertPrepaidValue(offer.cap));
    const [rule, terms] = [hashOf(offer.rule, "rule"), hashOf(offer.terms, "terms")];
    return { cap, rule, tokenKeyId: hashOf(offer.tokenKeyId, "tokenKeyId"), terms };
  });

/** Inverse of `encodeMeteredOffer`, for the parsed JSON of a 402. Ignores other fields. @throws SottoError INVALID_ARGUMENT */
export const decodeMeteredOffer = (wire: unknown): MeteredOffer =>
  recode("INVALID_ARGUMENT", "not the offer of a metered route", () => {
    assertObject(wire, "the offer");
    const { cap, rule, tokenKeyId, terms } = wire as Record<keyof WireMeteredOffer, unknown>;
    return {
      cap: assertPrepaidValue(parseAmount(cap, "cap")),
      rule: hashOf(rule, "rule"),
      tokenKeyId: hashOf(tokenKeyId, "tokenKeyId"),
      terms: hashOf(terms, "terms"),
    };
  });

/** The response header with a charge: base units, decimal. @throws SottoError INVALID_AMOUNT */
export const formatChargeHeader = (charge: bigint): string => String(assertAmount(charge, "the charge"));

/** Inverse of `formatChargeHeader`. @throws SottoError INVALID_AMOUNT */
export const parseChargeHeader = (value: unknown): bigint => parseAmount(value, METERED_CHARGE_HEADER);

const assertTerms = (value: unknown): readonly unknown[] => assertList(value, 1, MAX_METERED_TERMS, "the terms");

/** The answer with all signed terms: JSON. @throws SottoError INVALID_ARGUMENT */
export function formatTermsAnswer(terms: readonly SignedMeteredTerms[]): string {
  const text = JSON.stringify({
    terms: assertTerms(terms).map((signed) => encodeSignedTerms(signed as SignedMeteredTerms)),
  });
  if (sizeOf(text) > MAX_TERMS_ANSWER_BYTES)
    fail("INVALID_ARGUMENT", `the terms must be at most ${MAX_TERMS_ANSWER_BYTES} bytes of JSON`);
  return text;
}

/** Inverse of `formatTermsAnswer`. Does not check signatures. @throws SottoError INVALID_ARGUMENT */
export function parseTermsAnswer(text: unknown): readonly SignedMeteredTerms[] {
  const json = readJson(text, MAX_TERMS_ANSWER_BYTES, "the answer");
  return assertTerms(exactFields(json, ["terms"], "the answer").terms).map(decodeSignedTerms);
}

/** A claim of change as it is sent. */
export interface ChangeRequest {
  /** What was spent. */
  readonly token: TokenName;
  /** Shows that the claim is the payer's: see `signChangeClaim`. */
  readonly proof: ChangeClaimProof;
  /**
   * The blinded messages, 256 bytes each, in the order of `changeOf`; left out to ask what was charged, and if there is no
   * change.
   */
  readonly batch?: Uint8Array | undefined;
  /**
   * The charge for which the batch was made, base units: the server signs it only if that is the charge, and otherwise says what was
   * charged. Left out if a receipt has said it. Nobody signs it.
   */
  readonly charge?: bigint | undefined;
}

/** The claim that a request's proof must sign. @throws SottoError INVALID_ARGUMENT */
export function changeClaimOf(origin: string, request: Pick<ChangeRequest, "token" | "batch">): ChangeClaim {
  assertObject(request, "a claim");
  const { token, batch } = request;
  return { origin, token, batch: batch === undefined ? undefined : batchHash(batch) };
}

const batchHash = (batch: unknown): Bytes32 =>
  bytesToHex(sha256(assertMessages(batch, MAX_CHANGE_TOKENS, "the batch")));

function assertChangeRequest(request: unknown): ChangeRequest {
  assertObject(request, "a claim");
  const { token, proof, batch, charge } = request as ChangeRequest;
  assertObject(token, "a token");
  assertObject(proof, "the proof of a claim");
  const hex = (value: string, size: number, name: string) => bytesToHex(hexToBytes(value, size, name));
  return {
    token: { keyId: hex(token.keyId, 32, "keyId"), nonce: hex(token.nonce, 32, "nonce") },
    proof: {
      publicKey: hex(proof.publicKey, ED25519_KEY_BYTES, "publicKey"),
      signature: hex(proof.signature, ED25519_SIGNATURE_BYTES, "signature"),
    },
    ...(batch === undefined ? {} : { batch: assertMessages(batch, MAX_CHANGE_TOKENS, "batch") }),
    ...(charge === undefined ? {} : { charge: assertAmount(charge, "charge") }),
  };
}

/** The body of a claim: JSON. @throws SottoError INVALID_ARGUMENT */
export const formatChangeRequest = (request: ChangeRequest): string =>
  recode("INVALID_ARGUMENT", "not a claim of change", () => {
    const { token, proof, batch, charge } = assertChangeRequest(request);
    const messages = batch === undefined ? {} : { batch: encodeBase64url(batch) };
    const expected = charge === undefined ? {} : { charge: String(charge) };
    return JSON.stringify({ ...token, ...proof, ...messages, ...expected });
  });

const CLAIM_FIELDS = ["keyId", "nonce", "publicKey", "signature"] as const;

/** The names of the fields, with those optional ones that the object has. */
const withOptional = <Name extends string>(
  value: unknown,
  names: readonly Name[],
  optional: readonly Name[],
): readonly Name[] => [
  ...names,
  ...optional.filter((name) => typeof value === "object" && value !== null && Object.hasOwn(value, name)),
];

/** Inverse of `formatChangeRequest`. Does not check the signature. @throws SottoError INVALID_ARGUMENT */
export const parseChangeRequest = (text: unknown): ChangeRequest =>
  recode("INVALID_ARGUMENT", "not a claim of change", () => {
    const json = readJson(text, MAX_METERED_BODY_BYTES, "the body");
    const optional = ["batch", "charge"] as const;
    const names = withOptional<(typeof CLAIM_FIELDS)[number] | (typeof optional)[number]>(json, CLAIM_FIELDS, optional);
    const { keyId, nonce, publicKey, signature, batch, charge } = exactFields(json, names, "a claim");
    return assertChangeRequest({
      token: { keyId, nonce },
      proof: { publicKey, signature },
      ...(batch === undefined ? {} : { batch: decodeMessages(batch, MAX_CHANGE_TOKENS, "batch") }),
      ...(charge === undefined ? {} : { charge: parseAmount(charge, "charge") }),
    });
  });

/** The answer to a claim. */
export interface ChangeAnswer {
  /** The month whose keys sign this change, such as "2026-12". */
  readonly epoch: string;
  /** What was charged, signed. */
  readonly receipt: SignedReceipt;
  /** The signatures of the batch, 256 bytes each; left out if the claim had none. */
  readonly signatures?: Uint8Array | undefined;
}

/** The answer to a claim: JSON. @throws SottoError INVALID_ARGUMENT */
export const formatChangeAnswer = (answer: ChangeAnswer): string =>
  recode("INVALID_ARGUMENT", "not the answer to a claim", () => {
    assertObject(answer, "the answer");
    const { epoch, receipt, signatures } = answer;
    const messages =
      signatures === undefined
        ? {}
        : { signatures: encodeBase64url(assertMessages(signatures, MAX_CHANGE_TOKENS, "signatures")) };
    return JSON.stringify({ epoch: laterEpoch(epoch, 0), receipt: JSON.parse(formatReceipt(receipt)), ...messages });
  });

/** Inverse of `formatChangeAnswer`. Checks neither the receipt nor the signatures. @throws SottoError INVALID_ARGUMENT */
export const parseChangeAnswer = (text: unknown): ChangeAnswer =>
  recode("INVALID_ARGUMENT", "not the answer to a claim", () => {
    const json = readJson(text, MAX_METERED_BODY_BYTES, "the answer");
    const names = withOptional<"epoch" | "receipt" | "signatures">(json, ["epoch", "receipt"], ["signatures"]);
    const { epoch, receipt, signatures } = exactFields(json, names, "the answer");
    return {
      epoch: laterEpoch(assertText(epoch, "epoch"), 0),
      receipt: parseReceipt(JSON.stringify(receipt)),
      ...(signatures === undefined ? {} : { signatures: decodeMessages(signatures, MAX_CHANGE_TOKENS, "signatures") }),
    };
  });

/** A swap as it is sent: several tokens are spent, and fewer of the same sum are signed. */
export interface SwapRequest {
  /** The month of the new tokens: that of the spent ones, or the next (`changeEpochAt`). */
  readonly epoch: string;
  /** The spent tokens, all of one month, as `encodePrepaidHeader` writes them, in the order of `SwapRecipe.spend`. */
  readonly tokens: readonly string[];
  /** The blinded messages, 256 bytes each, in the order of `SwapRecipe.receive`. */
  readonly batch: Uint8Array;
}

function assertSwapRequest(request: unknown): SwapRequest {
  assertObject(request, "a swap");
  const { epoch, tokens, batch } = request as SwapRequest;
  const spent = assertList(tokens, MIN_SWAP_SPENDS, MAX_SWAP_SPENDS, "the tokens").map(decodePrepaidHeader);
  if (new Set(spent.map(({ keyId, nonce }) => keyId + nonce)).size !== spent.length)
    fail("INVALID_ARGUMENT", "a swap must not spend a token twice");
  return {
    epoch: laterEpoch(assertText(epoch, "epoch"), 0),
    tokens: [...tokens],
    batch: assertMessages(batch, MAX_SWAP_TOKENS, "batch"),
  };
}

/** The body of a swap: JSON. Equal swaps have equal bodies. @throws SottoError INVALID_ARGUMENT */
export const formatSwapRequest = (request: SwapRequest): string =>
  recode("INVALID_ARGUMENT", "not a swap", () => {
    const { epoch, tokens, batch } = assertSwapRequest(request);
    return JSON.stringify({ epoch, tokens, batch: encodeBase64url(batch) });
  });

/** Inverse of `formatSwapRequest`. Does not check signatures. @throws SottoError INVALID_ARGUMENT */
export const parseSwapRequest = (text: unknown): SwapRequest =>
  recode("INVALID_ARGUMENT", "not a swap", () => {
    const json = readJson(text, MAX_METERED_BODY_BYTES, "the body");
    const { epoch, tokens, batch } = exactFields(json, ["epoch", "tokens", "batch"], "a swap");
    return assertSwapRequest({ epoch, tokens, batch: decodeMessages(batch, MAX_SWAP_TOKENS, "batch") });
  });

/**
 * The hash by which a server recognizes a swap that is asked again: SHA-256 of "sotto/v1/prepaid-swap", a line feed and the
 * body of `formatSwapRequest`.
 * @returns 32 bytes, hex with 0x
 * @throws SottoError INVALID_ARGUMENT
 */
export const swapHash = (request: SwapRequest): Bytes32 =>
  bytesToHex(sha256(utf8ToBytes(SWAP + formatSwapRequest(request))));

/** The answer to a swap: JSON. @param signatures 256 bytes each @throws SottoError INVALID_ARGUMENT */
export const formatSwapAnswer = (signatures: Uint8Array): string =>
  JSON.stringify({ signatures: encodeBase64url(assertMessages(signatures, MAX_SWAP_TOKENS, "signatures")) });

/** Inverse of `formatSwapAnswer`. Does not check the signatures. @throws SottoError INVALID_ARGUMENT */
export function parseSwapAnswer(text: unknown): Uint8Array {
  const json = readJson(text, MAX_METERED_BODY_BYTES, "the answer");
  const { signatures } = exactFields(json, ["signatures"], "the answer");
  return decodeMessages(signatures, MAX_SWAP_TOKENS, "signatures");
}
