// A mobile number from each of thirty countries, in the notations used there.
import { type CountryCode, getExampleNumber } from "libphonenumber-js/max";
import examples from "libphonenumber-js/mobile/examples";

const COUNTRIES: readonly CountryCode[] = [
  ...(["US", "CA", "MX", "BR", "AR", "CL", "CO", "GB", "IE", "FR"] as const),
  ...(["DE", "ES", "IT", "PT", "NL", "CH", "SE", "NO", "PL", "TR"] as const),
  ...(["NG", "KE", "ZA", "EG", "IN", "ID", "JP", "KR", "AU", "NZ"] as const),
];

export interface TestNumber {
  readonly country: CountryCode;
  readonly e164: string;
  /** Digits without the country code. */
  readonly nationalDigits: string;
  /** Other notations. */
  readonly formats: readonly string[];
}

export const NUMBERS: readonly TestNumber[] = COUNTRIES.map((country) => {
  const number = getExampleNumber(country, examples);
  if (number === undefined) throw new Error(`no example number of ${country}`);
  const formats = [number.formatNational(), number.formatInternational(), number.format("RFC3966")];
  return { country, e164: number.number, nationalDigits: number.nationalNumber, formats };
});
