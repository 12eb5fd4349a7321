import { createErrorClass } from "@sotto/protocol";
import type { RECEIPT_ERRORS } from "../error-definitions.ts";

/** The codes of a {@link ReceiptError}. */
export type ReceiptErrorCode = keyof typeof RECEIPT_ERRORS;

/** An error of receipts and totals. */
export const ReceiptError = /* @__PURE__ */ createErrorClass<typeof RECEIPT_ERRORS>("ReceiptError");
export type ReceiptError = InstanceType<typeof ReceiptError>;
