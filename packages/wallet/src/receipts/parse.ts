import { SottoError } from "@sotto/protocol";
import { ReceiptError } from "./errors.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Runs a parser and reports its errors as a malformed receipt. @throws ReceiptError RECEIPT_MALFORMED */
export function reading<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (cause instanceof ReceiptError || !(cause instanceof SottoError)) throw cause;
    throw new ReceiptError("RECEIPT_MALFORMED", `not ${what}: ${cause.message}`, {}, { cause });
  }
}

/** Parses an object of the right type and version. @throws ReceiptError RECEIPT_MALFORMED */
export function parseDocument(value: unknown, type: string, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed(what, "it is not an object");
  const fields = value as Fields;
  if (fields["type"] !== type) throw malformed(what, `its type is not ${type}`);
  if (fields["version"] !== 1) throw malformed(what, "its version is not 1");
  return fields;
}

export function malformed(what: string, problem: string): ReceiptError {
  return new ReceiptError("RECEIPT_MALFORMED", `not ${what}: ${problem}`);
}

/** A decimal integer of at most 78 digits: a chain id. */
export function parseChainId(value: unknown, what: string): bigint {
  if (typeof value !== "string" || !/^(0|[1-9][0-9]{0,77})$/.test(value))
    throw malformed(what, "chainId is not a decimal integer");
  return BigInt(value);
}

/** @throws ReceiptError if `value` is not an integer of 0 or more */
export function parseBlock(value: unknown, name: string, what: string): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw malformed(what, `${name} is not a block number`);
  return value;
}

/** 32 bytes as lower-case hex. */
export function parseHash(value: unknown, name: string, what: string): string {
  if (typeof value !== "string" || !/^0x[0-9a-f]{64}$/.test(value))
    throw malformed(what, `${name} is not 32 bytes as lower-case hex`);
  return value;
}

/** Maximum characters of a challenge or of an auditor's name. */
const MAX_TEXT = 256;

/**
 * Whether a value is a text of 1 to 256 characters without control characters, so that a terminal shows exactly the
 * text that was signed.
 */
export function isPlainText(value: unknown): value is string {
  if (typeof value !== "string" || value.length === 0 || value.length > MAX_TEXT) return false;
  return !/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u.test(value);
}
