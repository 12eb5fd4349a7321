import { utf8ToBytes } from "@noble/hashes/utils.js";
import { assertAmount, bytesToHex, hexToBytes } from "@sotto/protocol";
import { assertObject, assertText, describe, fail, parseAmount, readStrictJson, recode } from "@sotto/protocol/extend";
import { assertSecret, ED25519_KEY_BYTES, ED25519_SIGNATURE_BYTES, signEd25519, verifyEd25519 } from "../ed25519.ts";
import { laterEpoch } from "../epoch.ts";
import {
  decodeMerchant,
  encodeMerchant,
  MERCHANT_NAMES,
  type PrepaidMerchant,
  type WirePrepaidMerchant,
} from "../merchant.ts";
import { exactFields } from "./fields.ts";
import { assertMethod, assertTarget, type MeteredRequest } from "./route.ts";
import { decodeUnitCounts, encodeUnitCounts, type UnitCounts } from "./units.ts";

/** Maximum length of a signed receipt as JSON, characters. */
export const MAX_RECEIPT_LENGTH = 12_288;
const DOMAIN = "sotto/v1/charge-receipt\n";

/** What a merchant charged for one request of a metered route. */
export interface ChargeReceipt extends PrepaidMerchant, MeteredRequest {
  /** The UTC month in which the token was spent, such as "2026-12". The receipt key of this month signs. */
  readonly epoch: string;
  /** The token's `tokenIdHash`, hex with 0x. */
  readonly token: string;
  /** The `meteredRuleHash` that the request named, hex with 0x. */
  readonly rule: string;
  /** What was counted. */
  readonly units: UnitCounts;
  /** Base units. */
  readonly charge: bigint;
  /** Base units, paid back in new tokens. */
  readonly change: bigint;
}

/** A receipt with the merchant's signature. */
export interface SignedReceipt {
  /** What is signed. */
  readonly receipt: ChargeReceipt;
  /** Ed25519 signature of `receiptMessage`, 64 bytes as hex with 0x. */
  readonly signature: string;
}

/** A receipt as JSON. It has no other fields. */
export interface WireReceipt extends WirePrepaidMerchant {
  /** Such as "2026-12". */
  readonly epoch: string;
  /** 32 bytes, hex with 0x. */
  readonly token: string;
  /** Such as "POST". */
  readonly method: string;
  /** Such as "/v1/chat?stream=1". */
  readonly target: string;
  /** 32 bytes, hex with 0x. */
  readonly rule: string;
  /** Counts by name, decimal, without zeros. */
  readonly units: Readonly<Record<string, string>>;
  /** Base units, decimal. */
  readonly charge: string;
  /** Base units, decimal. */
  readonly change: string;
}

const FIELDS = [
  ...MERCHANT_NAMES,
  ...(["epoch", "token", "method", "target", "rule", "units", "charge", "change"] as const),
];

function decodeReceipt(wire: unknown): ChargeReceipt {
  const field = exactFields(wire, FIELDS, "a receipt");
  return Object.freeze({
    ...decodeMerchant(field),
    epoch: laterEpoch(assertText(field.epoch, "epoch"), 0),
    token: bytesToHex(hexToBytes(field.token, 32, "token")),
    method: assertMethod(field.method),
    target: assertTarget(field.target),
    rule: bytesToHex(hexToBytes(field.rule, 32, "rule")),
    units: decodeUnitCounts(field.units),
    charge: parseAmount(field.charge, "charge"),
    change: parseAmount(field.change, "change"),
  });
}

/** The receipt for JSON, with its fields in the order in which they are signed. */
function encodeReceipt(receipt: ChargeReceipt): WireReceipt {
  return recode("INVALID_ARGUMENT", "not a receipt", () => {
    assertObject(receipt, "a receipt");
    const { epoch, token, method, target, rule, units } = receipt;
    const charge = String(assertAmount(receipt.charge, "charge"));
    const change = String(assertAmount(receipt.change, "change"));
    const counts = encodeUnitCounts(units);
    const wire = { ...encodeMerchant(receipt), epoch, token, method, target, rule, units: counts, charge, change };
    decodeReceipt(wire);
    return wire;
  });
}

/**
 * The bytes that the receipt key signs: "sotto/v1/charge-receipt", a line feed, and the receipt's JSON with its fields in the
 * order of `WireReceipt`, the units sorted by name, without spaces.
 * @throws SottoError INVALID_ARGUMENT
 */
export const receiptMessage = (receipt: ChargeReceipt): Uint8Array =>
  utf8ToBytes(DOMAIN + JSON.stringify(encodeReceipt(receipt)));

/**
 * Checks a signed receipt. Does not check the signature.
 * @returns the receipt in its only form, frozen
 * @throws SottoError INVALID_ARGUMENT, INVALID_HEX
 */
export function assertSignedReceipt(signed: unknown): SignedReceipt {
  assertObject(signed, "a signed receipt");
  const { receipt, signature } = signed as SignedReceipt;
  const bytes = hexToBytes(signature, ED25519_SIGNATURE_BYTES, "signature");
  return Object.freeze({ receipt: decodeReceipt(encodeReceipt(receipt)), signature: bytesToHex(bytes) });
}

/**
 * Signs a receipt with the receipt key of its month.
 * @param secret the Ed25519 secret, 32 bytes
 * @throws SottoError INVALID_ARGUMENT, INVALID_KEY
 */
export function signReceipt(receipt: ChargeReceipt, secret: Uint8Array): SignedReceipt {
  const message = receiptMessage(receipt);
  const signature = bytesToHex(signEd25519(message, assertSecret(secret, "a receipt secret")));
  return assertSignedReceipt({ receipt, signature });
}

/**
 * Whether a receipt key signed a receipt. Strict verification: encodings that are not canonical and keys of small order are
 * refused.
 * @param receiptKey of the receipt's month, 32 bytes as hex with 0x; see `receiptKeyOfEpoch`
 * @throws SottoError INVALID_ARGUMENT, INVALID_HEX if a value is malformed
 */
export function verifyReceipt(signed: SignedReceipt, receiptKey: string): boolean {
  const { receipt, signature } = assertSignedReceipt(signed);
  const key = hexToBytes(receiptKey, ED25519_KEY_BYTES, "receiptKey");
  return verifyEd25519(hexToBytes(signature, ED25519_SIGNATURE_BYTES), receiptMessage(receipt), key);
}

/** A signed receipt as text: JSON. @throws SottoError INVALID_ARGUMENT, INVALID_HEX */
export function formatReceipt(signed: SignedReceipt): string {
  const { receipt, signature } = assertSignedReceipt(signed);
  return JSON.stringify({ receipt: encodeReceipt(receipt), signature });
}

/**
 * Parses a signed receipt strictly: at most 12,288 characters, exactly the known fields, no field twice. Does not check the
 * signature.
 * @throws SottoError INVALID_ARGUMENT
 */
export function parseReceipt(text: unknown): SignedReceipt {
  return recode("INVALID_ARGUMENT", "not a receipt", () => {
    if (typeof text !== "string" || text.length > MAX_RECEIPT_LENGTH)
      fail("INVALID_ARGUMENT", `a receipt must be at most ${MAX_RECEIPT_LENGTH} characters, got ${describe(text)}`);
    const json = readStrictJson(text, "the receipt", (_, problem) => fail("INVALID_ARGUMENT", problem));
    const { receipt, signature } = exactFields(json, ["receipt", "signature"], "a signed receipt");
    return assertSignedReceipt({ receipt: decodeReceipt(receipt), signature });
  });
}
