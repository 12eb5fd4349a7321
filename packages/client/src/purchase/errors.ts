import { createErrorClass } from "@sotto/protocol";
import type { PURCHASE_ERRORS } from "../error-definitions.ts";

/** The codes of a {@link PurchaseError}. */
export type PurchaseErrorCode = keyof typeof PURCHASE_ERRORS;

/** An error of a purchase. */
export const PurchaseError = /* @__PURE__ */ createErrorClass<typeof PURCHASE_ERRORS>("PurchaseError");
export type PurchaseError = InstanceType<typeof PurchaseError>;
