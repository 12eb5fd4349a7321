import { bytesToHex, hexToBytes } from "@sotto/protocol";
import { assertInteger, assertText, fail, recode } from "@sotto/protocol/extend";
import { assertSecret, ED25519_KEY_BYTES, publicKeyOf } from "../ed25519.ts";
import { laterEpoch } from "../epoch.ts";
import { MAX_PREPAID_EPOCHS } from "../schedule.ts";
import { prepaidChallengeDigest } from "../token.ts";
import { assertList, exactFields } from "./fields.ts";

/** Maximum size of receipts.json, bytes. */
export const MAX_RECEIPT_KEY_FILE_BYTES = 16 * 1024;
/** Room for the keys of four terms, the most that a server has at once. */
const MAX_KEYS = 4 * MAX_PREPAID_EPOCHS;

/** The secret that signs the receipts of a month. */
export interface ReceiptSecret {
  /** Such as "2026-12". */
  readonly epoch: string;
  /** The Ed25519 secret, 32 bytes. */
  readonly secret: Uint8Array;
}

/** The content of receipts.json: what signs the receipts of one origin. */
export interface ReceiptKeyFile {
  /** Such as "https://data.example". */
  readonly origin: string;
  /** At most one for each month, 1 to 48. */
  readonly keys: readonly ReceiptSecret[];
}

/** receipts.json as JSON. */
export interface WireReceiptKeyFile {
  readonly version: 1;
  /** Such as "https://data.example". */
  readonly origin: string;
  /** The months, such as "2026-12", and the Ed25519 secrets, 32 bytes as hex with 0x. Secret. */
  readonly keys: readonly { readonly epoch: string; readonly secret: string }[];
}

/** Parses the JSON value of receipts.json. @throws SottoError INVALID_ARGUMENT; the message never contains a secret */
export function decodeReceiptKeyFile(json: unknown): ReceiptKeyFile {
  return recode("INVALID_ARGUMENT", "not a file of receipt keys", () => {
    const { version, origin, keys } = exactFields(json, ["version", "origin", "keys"], "the file");
    assertInteger(version, 1, 1, "version");
    const parsed = assertList(keys, 1, MAX_KEYS, "keys").map((entry, i) => {
      const { epoch, secret } = exactFields(entry, ["epoch", "secret"], `key ${i + 1}`);
      return { epoch: laterEpoch(assertText(epoch, "epoch"), 0), secret: parseSecret(secret, i) };
    });
    if (new Set(parsed.map(({ epoch }) => epoch)).size !== parsed.length)
      fail("INVALID_ARGUMENT", "keys must have at most one key for each month");
    const text = assertText(origin, "origin");
    prepaidChallengeDigest(text);
    return { origin: text, keys: parsed };
  });
}

function parseSecret(secret: unknown, i: number): Uint8Array {
  // The error of a parser could quote the text.
  if (typeof secret !== "string" || !/^0x[0-9a-f]{64}$/.test(secret))
    fail("INVALID_ARGUMENT", `the secret of key ${i + 1} must be ${ED25519_KEY_BYTES} bytes as lower-case hex with 0x`);
  return hexToBytes(secret, ED25519_KEY_BYTES, "secret");
}

/** Inverse of `decodeReceiptKeyFile`. @throws SottoError INVALID_ARGUMENT */
export const encodeReceiptKeyFile = (file: ReceiptKeyFile): WireReceiptKeyFile =>
  recode("INVALID_ARGUMENT", "not a file of receipt keys", () => {
    const { origin, keys } = exactFields(file, ["origin", "keys"], "the file");
    const wire = {
      version: 1 as const,
      origin: assertText(origin, "origin"),
      keys: assertList(keys, 1, MAX_KEYS, "keys").map((entry) => {
        const { epoch, secret } = exactFields(entry, ["epoch", "secret"], "a key");
        return { epoch: assertText(epoch, "epoch"), secret: bytesToHex(assertSecret(secret, "a secret")) };
      }),
    };
    decodeReceiptKeyFile(wire);
    return wire;
  });

/** The public key that terms name for a receipt secret, 32 bytes as hex with 0x. @throws SottoError INVALID_KEY */
export const receiptKeyOf = (secret: Uint8Array): string =>
  bytesToHex(publicKeyOf(assertSecret(secret, "a receipt secret")));
