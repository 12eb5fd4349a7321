import { type CountryCode, getCountries, parsePhoneNumberFromString } from "libphonenumber-js/max";
import { PhoneError } from "../errors.ts";

export type { CountryCode } from "libphonenumber-js/max";

/** Longer than any way of writing a number. */
export const MAX_WRITTEN_LENGTH = 64;

/** Digits and what people put between them. Letters, extensions and other scripts' digits are no part of a number. */
const WRITTEN = /^\+?[0-9 ().\-/\u00a0\u2011]*$/;
const SEPARATORS = /[ ().\-/\u00a0\u2011]/g;
/** Numbers that cost who sends a code, and belong to no person. */
const NOT_SERVED = new Set(["PREMIUM_RATE", "SHARED_COST", "UAN", "PAGER", "VOICEMAIL"]);

export interface PhoneNumber {
  /** E.164. */
  readonly number: string;
  /** undefined where several countries share the number's prefix. */
  readonly country: CountryCode | undefined;
  /** Whether a code can be sent to it at all. */
  readonly servable: boolean;
}

export const isCountry = (text: string): text is CountryCode => (getCountries() as readonly string[]).includes(text);

/**
 * A number as people write it: with `+` (a space for it, where a URL was decoded as a form), as bare digits of the
 * international form, or, where there is a default country, in its local form. Only numbers that can exist.
 *
 * @throws PhoneError INVALID_PHONE_NUMBER, AMBIGUOUS_PHONE_NUMBER; the message never holds the number
 */
export function parseNumber(text: string, defaultCountry?: CountryCode): PhoneNumber {
  const written = text.trim();
  const plain = written.replace(SEPARATORS, "");
  const international = written.startsWith("+");
  if (text.length > MAX_WRITTEN_LENGTH || !WRITTEN.test(written) || !/^\+?[0-9]{4,20}$/.test(plain)) throw invalid();
  // An area code in brackets comes after a country code, or the number is local.
  const local = defaultCountry !== undefined && written.startsWith("(");
  const asInternational = local ? undefined : valid(international ? plain : `+${plain}`);
  const asLocal = international || defaultCountry === undefined ? undefined : valid(plain, defaultCountry);
  // Without the prefix that its country writes in front (a German 0), a local number does not stand against another.
  const rivals = asLocal?.national === plain && asInternational?.number !== asLocal.number;
  if (asInternational !== undefined && rivals)
    // Whoever guesses here pays a stranger.
    throw new PhoneError(
      "AMBIGUOUS_PHONE_NUMBER",
      "these digits are two different numbers: write it with + and country",
    );
  const found = asInternational ?? asLocal;
  if (found === undefined) throw invalid();
  const { national: _, ...rest } = found;
  return rest;
}

const invalid = () =>
  new PhoneError("INVALID_PHONE_NUMBER", "this is not a phone number that can exist; write +, country code and number");

/** With the digits that its country writes. */
function valid(text: string, country?: CountryCode): (PhoneNumber & { readonly national: string }) | undefined {
  const parsed = parsePhoneNumberFromString(
    text,
    country === undefined ? { extract: false } : { defaultCountry: country, extract: false },
  );
  if (parsed === undefined || !parsed.isValid() || parsed.ext !== undefined) return undefined;
  // The registry's form: no leading zero, at most fifteen digits.
  if (!/^\+[1-9][0-9]{6,14}$/.test(parsed.number)) return undefined;
  const national = parsed.formatNational().replace(/\D/g, "");
  return {
    number: parsed.number,
    country: parsed.country,
    national,
    servable: !NOT_SERVED.has(parsed.getType() ?? ""),
  };
}
