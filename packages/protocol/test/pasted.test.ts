// Text that people paste carries characters that nobody sees. They are dropped at the ends or named, and never change a value.
import { thrown } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import {
  decodeShieldedAddress,
  deriveKeys,
  invisibleCharacter,
  parseAddress,
  parseDecimalAmount,
  phoneDigits,
  trimPasted,
} from "../src/index.ts";

const ADDRESS = `0x${"5a".repeat(20)}`;
const SHIELDED = deriveKeys(new Uint8Array(32).fill(7), { chainId: 1n, pool: ADDRESS }).shieldedAddress();

/** Characters that nobody sees and that leave the others in their order. */
const HARMLESS = [
  ..." \t\n\r\u00a0\u00ad\u200b\u200c\u200d\u200e\u202a\u202c\u202d\u202f\u2060\u2066\u2068\u2069\u3000\ufeff",
];
/** Marks that turn text from right to left. */
const TURNING = [..."\u061c\u200f\u202b\u202e\u2067"];
/** Characters that look like those of an address. */
const LOOKALIKES = [
  ["Cyrillic x", ADDRESS.replace("x", "\u0445")],
  ["full-width zero", ADDRESS.replace("0", "\uff10")],
  ["Cyrillic a", ADDRESS.replace("a", "\u0430")],
  ["Arabic five", ADDRESS.replace("5", "\u0665")],
  ["letter O", ADDRESS.replace("0", "O")],
] as const;

describe("pasted text", () => {
  it("loses spaces and invisible characters at both ends, and nothing else", () => {
    expect(trimPasted(ADDRESS)).to.equal(ADDRESS);
    for (const mark of HARMLESS) {
      expect(trimPasted(mark + ADDRESS + mark + mark)).to.equal(ADDRESS);
      const inside = `${ADDRESS.slice(0, 9)}${mark}${ADDRESS.slice(9)}`;
      expect(trimPasted(inside), "a mark inside is kept").to.equal(inside);
    }
    expect([trimPasted(""), trimPasted(HARMLESS.join(""))]).to.deep.equal(["", ""]);
    for (const mark of TURNING) expect(trimPasted(mark + ADDRESS)).to.equal(mark + ADDRESS);
    for (const [, text] of LOOKALIKES) expect(trimPasted(text)).to.equal(text);
  });

  it("is trimmed in linear time, even if it is long", () => {
    const spaces = " \u200b".repeat(200_000);
    expect(trimPasted(`${spaces}a${spaces}b${spaces}`)).to.equal(`a${spaces}b`);
  });

  it("has its first invisible character named, with the position", () => {
    for (const clean of ["", ADDRESS, "two words", "Gr\u00fc\u00dfe, \u4f60\u597d!"])
      expect(invisibleCharacter(clean)).to.equal(undefined);
    expect(invisibleCharacter("ab\u200bc\u202e")).to.equal("U+200B (zero width space) at character 3");
    expect(invisibleCharacter("\ufeff{}")).to.equal(
      "U+FEFF (zero width no-break space, also the byte order mark) at character 1",
    );
    expect(invisibleCharacter("a\u0007")).to.equal("U+0007 at character 2");
    expect(invisibleCharacter("a\u3164"), "a letter without a shape").to.equal("U+3164 at character 2");
    expect(invisibleCharacter("a\u{e0041}")).to.equal("U+E0041 at character 2");
    for (const mark of [...HARMLESS.slice(1), ...TURNING]) expect(invisibleCharacter(`a${mark}`)).to.match(/^U\+/);
  });

  it("is no valid address with an invisible character, which the error names", () => {
    expect(parseAddress(ADDRESS)).to.equal(ADDRESS);
    expect(decodeShieldedAddress(SHIELDED).ownerTag).to.be.a("bigint");
    for (const [mark, name] of [
      ["\u202a", "left-to-right embedding"],
      ["\u200b", "zero width space"],
      ["\u202e", "right-to-left override"],
      ["\ufeff", "byte order mark"],
    ] as const)
      for (const at of [0, 12, 42]) {
        const broken = (text: string) => text.slice(0, at) + mark + text.slice(at);
        const address = thrown(() => parseAddress(broken(ADDRESS)));
        expect(address).to.have.property("code", "INVALID_ADDRESS");
        expect(address.message)
          .to.contain(name)
          .and.contain(`character ${at + 1}`);
        const shielded = thrown(() => decodeShieldedAddress(broken(SHIELDED)));
        expect(shielded).to.have.property("code", "INVALID_SHIELDED_ADDRESS");
        expect(shielded.message)
          .to.contain(name)
          .and.contain(`character ${at + 1}`);
        expect(shielded.message, "no part of the value").to.not.contain(SHIELDED.slice(2, 10));
      }
    expect(thrown(() => parseDecimalAmount("1\u00a0000", 6)).message).to.contain("U+00A0 (no-break space)");
  });

  for (const [what, text] of LOOKALIKES)
    it(`is no valid address with a ${what}`, () => {
      expect(parseAddress(trimPasted(`\u202a${ADDRESS}\u202c`))).to.equal(ADDRESS);
      expect(thrown(() => parseAddress(trimPasted(text)))).to.have.property("code", "INVALID_ADDRESS");
    });

  it("keeps of a phone number what is not a separator", () => {
    expect(phoneDigits("\u202d+1\u00a0(415) 555\u20110100\u202c").digits).to.equal("+14155550100");
    for (const mark of HARMLESS.filter((mark) => !"\t\n\r".includes(mark)))
      expect(phoneDigits(`+1415${mark}5550100`).digits).to.equal("+14155550100");
    for (const other of [...TURNING, ..."\t\n\r", "\u0661", "\uff11", "x", "+", ";", "\u2013"])
      expect(phoneDigits(`+1415${other}5550100`).digits).to.equal(`+1415${other}5550100`);
  });
});
