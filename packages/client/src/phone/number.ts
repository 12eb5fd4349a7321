import { PhoneError } from "./errors.ts";

/** What people put between digits. */
const SEPARATORS = /[ ().\-/\u00a0\u2011]/g;
const LONGEST_WRITTEN = 64;

/**
 * A number in E.164, from its international form as people write it: `+1 (415) 555-0100` is `+14155550100`.
 *
 * Only the form is looked at. Which numbers exist, and what a local form means, is known to the registry, which keeps the
 * numbering plans of all countries; a client that guesses a country pays a stranger. So a number without `+` is refused
 * here, and one that the registry reads as another is refused when it answers.
 *
 * @throws PhoneError PHONE_NUMBER_INVALID; the message never holds the number
 */
export function phoneNumberOf(written: unknown): string {
  const digits =
    typeof written === "string" && written.length <= LONGEST_WRITTEN ? written.replace(SEPARATORS, "") : "";
  if (!/^\+[1-9][0-9]{4,14}$/.test(digits))
    throw new PhoneError(
      "PHONE_NUMBER_INVALID",
      "a phone number is written with + and its country's code, such as +1 415 555 0100, with 5 to 15 digits",
    );
  return digits;
}
