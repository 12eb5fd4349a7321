import type { PaymentEntry } from "./payment-list.ts";

const COLUMNS = [
  "id",
  "direction",
  "state",
  "amount",
  "decimal",
  "recipientWallet",
  "recipientAddress",
  "resource",
  "transaction",
  "block",
  "begun",
  "settled",
  "month",
] as const satisfies readonly (keyof PaymentEntry)[];

/** Characters that a spreadsheet parses as the start of a formula, or skips before one. */
const FORMULA = /^[\s\uFEFF]*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;

/**
 * One cell according to RFC 4180. Resource URLs are chosen by payers and merchants, so a value that a spreadsheet would
 * run as a formula is prefixed with an apostrophe.
 */
function cell(value: string): string {
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Payments as CSV according to RFC 4180: a header line, CRLF line ends. Amounts in base units and as decimals. */
export function paymentsCsv(entries: readonly PaymentEntry[]): string {
  const lines = entries.map((entry) => COLUMNS.map((name) => cell(String(entry[name] ?? ""))).join(","));
  return [COLUMNS.join(","), ...lines].map((line) => `${line}\r\n`).join("");
}
