import type { ChargeEntry, PaymentEntry } from "./payment-list.ts";

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
  "kind",
  "charge",
  "chargeDecimal",
] as const satisfies readonly (keyof PaymentEntry | keyof ChargeEntry)[];

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

/** CSV according to RFC 4180: a header line, CRLF line ends. Cells that a spreadsheet would run as a formula get an apostrophe. */
export const csvOf = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");

/**
 * Payments and charges as CSV according to RFC 4180: a header line, CRLF line ends. Amounts in base units and as decimals. Those
 * of payments and those of charges have columns of their own.
 */
export const paymentsCsv = (entries: readonly (PaymentEntry | ChargeEntry)[]): string =>
  csvOf(
    COLUMNS,
    entries.map((cells: Readonly<Partial<Record<(typeof COLUMNS)[number], unknown>>>) =>
      COLUMNS.map((name) => String(cells[name] ?? "")),
    ),
  );
