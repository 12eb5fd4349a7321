import { phoneDigits, trimPasted } from "@sotto/protocol";
import { type CountryCode, getCountries, parsePhoneNumberFromString } from "libphonenumber-js/max";
import { PhoneError } from "../errors.ts";

export type { CountryCode } from "libphonenumber-js/max";

/** Longer than any notation of a number. */
export const MAX_WRITTEN_LENGTH = 64;

/** Kinds of numbers that belong to no person or are expensive to send codes to. */
const NOT_SERVED = new Set(["PREMIUM_RATE", "SHARED_COST", "UAN", "PAGER", "VOICEMAIL"]);

/** A parsed number, and what its digits reveal. */
export interface PhoneNumber {
  /** E.164. */
  readonly number: string;
  /** undefined if several countries share the number's prefix. */
  readonly country: CountryCode | undefined;
  /** Whether codes can be sent to numbers of this kind. */
  readonly servable: boolean;
}

export const isCountry = (text: string): text is CountryCode => (getCountries() as readonly string[]).includes(text);

/**
 * Parses a number as people write it: with `+` (or a space, if a URL was decoded as a form), as bare international digits, or, if
 * there is a default country, in its local form. Numbers that cannot exist are refused, and so are letters, extensions and
 * digits of other scripts. Invisible characters that contacts and chats put around a number are ignored.
 * @throws PhoneError INVALID_PHONE_NUMBER, AMBIGUOUS_PHONE_NUMBER; the message never contains the number
 */
export function parseNumber(text: string, defaultCountry?: CountryCode): PhoneNumber {
  if (text.length > MAX_WRITTEN_LENGTH) throw invalid();
  const written = trimPasted(text);
  const { digits: plain, invisible } = phoneDigits(written);
  const international = written.startsWith("+");
  if (plain.startsWith("+") !== international || !/^\+?[0-9]{4,20}$/.test(plain)) throw invalid(invisible);
  // A number that begins with an area code in brackets is local.
  const local = defaultCountry !== undefined && written.startsWith("(");
  const asInternational = local ? undefined : valid(international ? plain : `+${plain}`);
  const asLocal = international || defaultCountry === undefined ? undefined : valid(plain, defaultCountry);
  // Digits without the country's trunk prefix (0 in Germany) are not how its local numbers are written, so they do not compete.
  const rivals = asLocal?.national === plain && asInternational?.number !== asLocal.number;
  if (asInternational !== undefined && rivals)
    // A wrong guess would pay another person.
    throw new PhoneError(
      "AMBIGUOUS_PHONE_NUMBER",
      "these digits can be two different numbers; write the number with + and its country code",
    );
  const found = asInternational ?? asLocal;
  if (found === undefined) throw invalid();
  const { national: _, ...rest } = found;
  return rest;
}

function invalid(invisible?: string): PhoneError {
  const found = invisible === undefined ? "" : ` and contains ${invisible}`;
  return new PhoneError(
    "INVALID_PHONE_NUMBER",
    `this is not a valid phone number${found}; write +, the country code and the number`,
  );
}

/** Parses a phone number; undefined if it is invalid. `national` contains the digits of its national format. */
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
