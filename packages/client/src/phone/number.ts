import { PhonePaymentError } from "./errors.ts";

/** Characters that people write between digits. */
const SEPARATORS = /[ ().\-/\u00a0\u2011]/g;
const MAX_WRITTEN_LENGTH = 64;

/**
 * Parses a number in international form into E.164: `+1 (415) 555-0100` becomes `+14155550100`.
 *
 * Only the form is checked. The registry has the numbering plans of all countries and knows which numbers exist. A
 * number without `+` is refused, because a client that guesses the country may pay the wrong person. If the registry
 * parses the number differently, its response is refused.
 *
 * @throws PhonePaymentError PHONE_NUMBER_INVALID; the message never contains the number
 */
export function phoneNumberOf(written: unknown): string {
  const digits =
    typeof written === "string" && written.length <= MAX_WRITTEN_LENGTH ? written.replace(SEPARATORS, "") : "";
  if (!/^\+[1-9][0-9]{4,14}$/.test(digits))
    throw new PhonePaymentError(
      "PHONE_NUMBER_INVALID",
      "a phone number needs + and a country code, then 5 to 15 digits in all, such as +1 415 555 0100",
    );
  return digits;
}
