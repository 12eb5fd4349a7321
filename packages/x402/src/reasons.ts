// Reasons of refusals by the resource server; the service has its own.

/** The payment was already used. Final. */
export const PAYMENT_USED = "sotto_payment_used";
/** Another request with this payment is in progress. */
export const PAYMENT_IN_USE = "sotto_payment_in_use";
/** The payment was made before a server without a persistent store started, so it may have been used. */
export const PAYMENT_TOO_EARLY = "sotto_payment_before_start";
/** The check could not be completed. */
export const CHECK_FAILED = "sotto_check_failed";
