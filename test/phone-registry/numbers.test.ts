// A number has one normalized form for all spellings, national and international.
import { type CountryCode, parseNumber } from "@sotto/phone-registry";
import { expect } from "chai";

/** Country, the national spelling, and E.164. Numbers reserved for examples and films, if the country has any. */
const LOCAL: readonly [CountryCode, string, string][] = [
  ["AR", "011 15-2345-6789", "+5491123456789"],
  ["AT", "0664 123456", "+43664123456"],
  ["AU", "0412 345 678", "+61412345678"],
  ["BE", "0470 12 34 56", "+32470123456"],
  ["BR", "(11) 96123-4567", "+5511961234567"],
  ["CA", "(506) 234-5678", "+15062345678"],
  ["CH", "078 123 45 67", "+41781234567"],
  ["CN", "186 1234 5678", "+8618612345678"],
  ["CZ", "601 123 456", "+420601123456"],
  ["DE", "01512 3456789", "+4915123456789"],
  ["DK", "34 41 23 45", "+4534412345"],
  ["EG", "0100 123 4567", "+201001234567"],
  ["ES", "612 34 56 78", "+34612345678"],
  ["FI", "041 2345678", "+358412345678"],
  ["FR", "06 12 34 56 78", "+33612345678"],
  ["GB", "07400 123456", "+447400123456"],
  ["GR", "691 234 5678", "+306912345678"],
  ["IE", "085 012 3456", "+353850123456"],
  ["IL", "050-234-5678", "+972502345678"],
  ["IN", "081234 56789", "+918123456789"],
  ["IT", "312 345 6789", "+393123456789"],
  ["JP", "090-1234-5678", "+819012345678"],
  ["KE", "0712 123456", "+254712123456"],
  ["KR", "010-2000-0000", "+821020000000"],
  ["MX", "222 123 4567", "+522221234567"],
  ["NG", "0802 123 4567", "+2348021234567"],
  ["NL", "06 12345678", "+31612345678"],
  ["NO", "406 12 345", "+4740612345"],
  ["NZ", "021 123 4567", "+64211234567"],
  ["PL", "512 345 678", "+48512345678"],
  ["PT", "912 345 678", "+351912345678"],
  ["SE", "070-123 45 67", "+46701234567"],
  ["SG", "8123 4567", "+6581234567"],
  ["TR", "0501 234 56 78", "+905012345678"],
  ["UA", "050 123 4567", "+380501234567"],
  ["US", "(201) 555-0123", "+12015550123"],
  ["ZA", "071 123 4567", "+27711234567"],
];

const codeOf = (text: string, country?: CountryCode): unknown => {
  try {
    return parseNumber(text, country).number;
  } catch (error) {
    expect((error as Error).message.replace(/U\+[0-9A-F]{4}/, "")).to.not.match(/[0-9]{3}/);
    return (error as { code?: unknown }).code;
  }
};

describe("phone numbers", () => {
  for (const [country, local, number] of LOCAL)
    it(`${country}: parses ${local} and every other spelling as ${number}`, () => {
      expect(parseNumber(local, country)).to.deep.include({ number, country, servable: true });
      const digits = number.slice(1);
      const spaced = digits.replace(/(..)/g, "$1 ").trim();
      for (const written of [number, digits, `+${spaced}`, spaced, ` ${digits}`, `+${digits.replace(/(...)/g, "$1-")}`])
        expect(codeOf(written.replace(/-$/, "")), written).to.equal(number);
      // The international form means the same number in its own country.
      for (const written of [number, digits]) expect(codeOf(written, country), written).to.equal(number);
    });

  it("cover at least thirty countries", () => {
    expect(new Set(LOCAL.map(([country]) => country)).size).to.be.at.least(30);
  });

  it("are parsed with the invisible characters that contacts and chats add", () => {
    for (const written of [
      "\u202d+49 1511 2345678\u202c",
      "\u202a+49\u00a01511\u20112345678\u202c",
      "\u2068+4915112345678\u2069",
      "\ufeff+49151\u200b12345678\u200e\n",
    ])
      expect(codeOf(written), written).to.equal("+4915112345678");
    for (const [mark, name] of [
      ["\u200f", "U+200F (right-to-left mark)"],
      ["\u202e", "U+202E (right-to-left override)"],
      ["\u2067", "U+2067 (right-to-left isolate)"],
    ] as const)
      for (const written of [`${mark}+4915112345678`, `+49 1511 ${mark}2345 678`, `+4915112345678${mark}`]) {
        expect(codeOf(written), name).to.equal("INVALID_PHONE_NUMBER");
        expect(() => parseNumber(written)).to.throw(name);
      }
  });

  const wrong: [string, string][] = [
    ["nothing", ""],
    ["a plus alone", "+"],
    ["too few digits", "+491"],
    ["too many digits", "+49151123456789012345"],
    ["a country that is none", "+9991234567"],
    ["a number its country does not have", "+49100000000000"],
    ["a North American area that does not exist", "+10001234567"],
    ["a local form, without a default country", "01512 3456789"],
    ["letters", "+1800FLOWERS"],
    ["an extension", "+12015550123 ext. 5"],
    ["another extension", "+12015550123;ext=5"],
    ["a URL", "tel:+12015550123"],
    ["two pluses", "++12015550123"],
    ["a plus in the middle", "+1201+5550123"],
    ["a leading zero", "+012015550123"],
    ["digits of another script", "+٤٩١٥١١٢٣٤٥٦٧٨"],
    ["digits of full width", "＋４９１５１１２３４５６７８"],
    ["a line break", "+49151\n12345678"],
    ["a null character", "+4915112345678\u0000"],
    ["an SQL", "' or 1=1"],
    ["far too much", `+49151${"1".repeat(100)}`],
    ["much space", `${" ".repeat(100)}+4915112345678`],
  ];
  for (const [what, text] of wrong)
    it(`exclude ${what}`, () => {
      expect(codeOf(text)).to.equal("INVALID_PHONE_NUMBER");
    });

  it("are never guessed: ambiguous digits are rejected without a plus sign", () => {
    // Could be a mobile number in China or a number in Chicago.
    expect(codeOf("131 2345 6789", "CN")).to.equal("AMBIGUOUS_PHONE_NUMBER");
    expect(codeOf("+13123456789", "CN")).to.equal("+13123456789");
    expect(codeOf("+8613123456789", "CN")).to.equal("+8613123456789");
    // Could be a number in the United States or in Egypt; with parentheses, only the former.
    expect(codeOf("2015550123", "US")).to.equal("AMBIGUOUS_PHONE_NUMBER");
    expect(codeOf("(201) 555-0123", "US")).to.equal("+12015550123");
    expect(codeOf("+2015550123", "US")).to.equal("+2015550123");
    expect(codeOf("2015550123")).to.equal("+2015550123");
    // National numbers in Germany begin with a zero, so these digits must be international.
    expect(codeOf("4915123456789", "DE")).to.equal("+4915123456789");
  });

  it("distinguish premium and unassigned numbers", () => {
    expect(parseNumber("+499001234567").servable).to.equal(false);
    expect(parseNumber("+4915112345678").servable).to.equal(true);
  });
});
