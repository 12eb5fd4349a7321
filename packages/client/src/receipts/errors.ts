import { createErrorClass } from "@sotto/protocol";
import type { RECEIPT_ERRORS } from "../error-definitions.ts";

export type ReceiptErrorCode = keyof typeof RECEIPT_ERRORS;

/** An error of receipts and totals. */
export const ReceiptError = /* @__PURE__ */ createErrorClass<typeof RECEIPT_ERRORS>("ReceiptError");
export type ReceiptError = InstanceType<typeof ReceiptError>;
