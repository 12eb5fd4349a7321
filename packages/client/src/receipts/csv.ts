import type { PaymentEntry } from "./payments.ts";

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
] as const satisfies readonly (keyof PaymentEntry)[];

/** What a spreadsheet takes for the beginning of a formula, or skips before it. */
const FORMULA = /^[\s\uFEFF]*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;

/**
 * One cell by RFC 4180. Resource addresses are chosen by strangers: what a spreadsheet would run as a formula gets an
 * apostrophe before it, which it shows as text.
 */
function cell(value: string): string {
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Payments as CSV by RFC 4180: a header line, CRLF line ends. Amounts in base units and as decimals. */
export function paymentsCsv(entries: readonly PaymentEntry[]): string {
  const lines = entries.map((entry) => COLUMNS.map((name) => cell(String(entry[name] ?? ""))).join(","));
  return [COLUMNS.join(","), ...lines].map((line) => `${line}\r\n`).join("");
}
