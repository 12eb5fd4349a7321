import { thrown } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { phoneNumberOf } from "../../src/phone/number.ts";

const NUMBER = "+14155550100";

describe("phoneNumberOf", () => {
  for (const [what, written] of [
    ["E.164", NUMBER],
    ["spaces, brackets and hyphens", "+1 (415) 555-0100"],
    ["what Apple's contacts copy", "\u202d+1 (415) 555\u20110100\u202c"],
    ["what Android's contacts copy", "\u202a+1 415-555-0100\u202c"],
    ["an isolate, as chats add it", "\u2068+1\u00a0415\u00a05550100\u2069"],
    ["narrow spaces and figure dashes", "+1\u202f415\u2009555\u20120100"],
    ["a byte order mark and a line break", `\ufeff${NUMBER}\r\n`],
    ["a zero width space among the digits", "+1415\u200b5550100"],
  ] as const)
    it(`parses ${what}`, () => {
      expect(phoneNumberOf(written)).to.equal(NUMBER);
    });

  for (const [what, mark, name] of [
    ["a right-to-left mark", "\u200f", "U+200F (right-to-left mark)"],
    ["a right-to-left embedding", "\u202b", "U+202B (right-to-left embedding)"],
    ["a right-to-left override", "\u202e", "U+202E (right-to-left override)"],
    ["a right-to-left isolate", "\u2067", "U+2067 (right-to-left isolate)"],
    ["a line break", "\n", "U+000A (line feed)"],
  ] as const)
    it(`refuses ${what} within a number and names it, because groups may be shown in another order`, () => {
      const error = thrown(() => phoneNumberOf(`+1 415 ${mark}555 0100`));
      expect(error).to.have.property("code", "PHONE_NUMBER_INVALID");
      expect(error.message).to.contain(name).and.contain("at character 8");
    });

  it("refuses other numbers without naming a separator", () => {
    for (const written of [
      "415 555\u00a00100",
      "+1 415 555 0100 ext. 5",
      "+\u0661\u0664\u0661\u0665\u0665\u0665",
      "",
      5,
    ]) {
      const error = thrown(() => phoneNumberOf(written));
      expect(error).to.have.property("code", "PHONE_NUMBER_INVALID");
      expect(error.message).to.not.contain("U+");
    }
  });
});
