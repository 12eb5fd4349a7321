export {
  type AssertReceiptOptions,
  assertReceipt,
  type CheckedReceipt,
  keyOfReceipt,
  openReceipt,
} from "./receipts/check.ts";
export { ReceiptError, type ReceiptErrorCode } from "./receipts/errors.ts";
export { type ParsedReceipt, parseReceipt, type Receipt } from "./receipts/receipt.ts";
export { type AssertTotalsOptions, assertTotals, type CheckedTotals } from "./receipts/totals/check.ts";
export { type BlockRange, type MonthBlocksOptions, monthBlocks } from "./receipts/totals/month-blocks.ts";
export { proveTotals, type TotalsOptions } from "./receipts/totals/prove.ts";
export {
  type AssertTotalsDocumentOptions,
  assertTotalsDocument,
  type CheckedDocument,
  type CheckedPart,
  type TotalsDocument,
  type TotalsPart,
  totalsDocument,
} from "./receipts/totals/report.ts";
export { calldataSignals, type SignalSource } from "./receipts/totals/signals.ts";
export type { HiddenPayment, SharedPoint, TotalsStatement } from "./receipts/totals/statement.ts";
export { csvOf, paymentsCsv } from "./wallet/payment-csv.ts";
export {
  type ChargeEntry,
  oldestFirst,
  type PaymentEntry,
  type PaymentsOptions,
  receivedEntry,
} from "./wallet/payment-list.ts";
export type { ReceiptOptions } from "./wallet/receipt.ts";
