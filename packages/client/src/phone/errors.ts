import { createErrorClass } from "@sotto/protocol";
import type { PHONE_PAYMENT_ERRORS } from "../error-definitions.ts";

/** The codes of a {@link PhonePaymentError}. */
export type PhonePaymentErrorCode = keyof typeof PHONE_PAYMENT_ERRORS;

/** Thrown when a phone number is not paid. */
export const PhonePaymentError = /* @__PURE__ */ createErrorClass<typeof PHONE_PAYMENT_ERRORS>("PhonePaymentError");
export type PhonePaymentError = InstanceType<typeof PhonePaymentError>;
