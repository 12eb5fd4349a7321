/** Reasons of a seller's server, beside those of the service. */
/** This payment was taken before. Final. */
export const PAYMENT_USED = "sotto_payment_used";
/** A request with this payment is under way. */
export const PAYMENT_IN_USE = "sotto_payment_in_use";
/** It was made before a server that keeps nothing on disk was started: it may have been used. */
export const PAYMENT_TOO_EARLY = "sotto_payment_before_start";
/** The server could not look. */
export const CHECK_FAILED = "sotto_check_failed";
