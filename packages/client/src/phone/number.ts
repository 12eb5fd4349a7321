import { phoneDigits, trimPasted } from "@sotto/protocol";
import { PhonePaymentError } from "./errors.ts";

const MAX_WRITTEN_LENGTH = 64;

/**
 * Parses a number in international form into E.164: `+1 (415) 555-0100` becomes `+14155550100`. Spaces, brackets, hyphens,
 * and the invisible characters that contacts and chats put around a number are ignored.
 *
 * Only the form is checked. The registry has the numbering plans of all countries and knows which numbers exist. A
 * number without `+` is refused, because a client that guesses the country may pay the wrong person. If the registry
 * parses the number differently, its response is refused.
 * @throws PhonePaymentError PHONE_NUMBER_INVALID; the message never contains the number
 */
export function phoneNumberOf(written: unknown): string {
  const text = typeof written === "string" && written.length <= MAX_WRITTEN_LENGTH ? trimPasted(written) : "";
  const { digits, invisible } = phoneDigits(text);
  if (/^\+[1-9][0-9]{4,14}$/.test(digits)) return digits;
  const expected = "a phone number needs + and a country code, then 5 to 15 digits in all, such as +1 415 555 0100";
  throw new PhonePaymentError(
    "PHONE_NUMBER_INVALID",
    invisible === undefined ? expected : `${expected}; this one contains ${invisible}: type the number instead`,
  );
}
