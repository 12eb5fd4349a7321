import { expect } from "chai";
import { createErrorClass, type ErrorTable, quoted, SottoError } from "../src/index.ts";

const TEA_ERRORS = {
  NO_COFFEE: {
    means: "The pot makes tea only.",
    cause: "It is a teapot.",
    exit: "refused",
    http: 418,
    remedy: "ask for tea",
  },
  TOO_HOT: { means: "The tea is too hot to drink.", cause: "It was just made." },
} satisfies ErrorTable;

const TeaError = createErrorClass<typeof TEA_ERRORS>("TeaError");
type TeaError = InstanceType<typeof TeaError>;

const CupError = createErrorClass<Pick<typeof TEA_ERRORS, "TOO_HOT">>("CupError");

describe("createErrorClass", () => {
  it("creates a subclass of SottoError with the given name, code, details and cause", () => {
    const cause = new Error("why");
    const error: TeaError = new TeaError("NO_COFFEE", "coffee was asked for", { cups: 2 }, { cause });
    expect(error).to.be.instanceOf(TeaError);
    expect(error).to.be.instanceOf(SottoError);
    expect(error).to.be.instanceOf(Error);
    expect(TeaError).to.have.property("name", "TeaError");
    expect([error.name, error.code, error.message, error.details["cups"], error.cause]).to.deep.equal([
      "TeaError",
      "NO_COFFEE",
      "coffee was asked for",
      2,
      cause,
    ]);
    expect(String(error)).to.equal("TeaError: coffee was asked for");
  });

  it("distinguishes two classes with the same code", () => {
    expect(new CupError("TOO_HOT", "")).not.to.be.instanceOf(TeaError);
  });

  it("creates a class that can be subclassed", () => {
    class Spilled extends TeaError {
      readonly drops: number;
      constructor(drops: number) {
        super("TOO_HOT", `${drops} drops were spilled`);
        this.drops = drops;
      }
    }
    const error = new Spilled(3);
    expect(error).to.be.instanceOf(TeaError);
    expect([error.name, error.code, error.drops]).to.deep.equal(["TeaError", "TOO_HOT", 3]);
  });

  it("creates a class whose codes are checked at compile time", () => {
    // @ts-expect-error A definition must have a cause.
    const WITHOUT_CAUSE = { COLD: { means: "The tea is cold." } } satisfies ErrorTable;
    expect(Object.keys(WITHOUT_CAUSE)).to.deep.equal(["COLD"]);
    // @ts-expect-error NO_SUGAR is not in the table.
    expect(new TeaError("NO_SUGAR", "").code).to.equal("NO_SUGAR");
    // @ts-expect-error NO_COFFEE is not in the other class's table.
    expect(new CupError("NO_COFFEE", "").code).to.equal("NO_COFFEE");
  });
});

describe("quoted", () => {
  it("keeps letters of any script, marks, digits, punctuation, symbols and spaces", () => {
    for (const text of ["déjà vu", "n\u0303", "कि ٣", "\u{1f600} \u{20000}", "«a» – 1+1=2 €", "<b>&amp;`$(x)"])
      expect(quoted(text)).to.equal(text);
  });

  it("replaces each run of control, bidi, format and unassigned characters with one space", () => {
    const overrides = [
      "\u061c",
      "\u200e",
      "\u200f",
      ..."\u202a\u202b\u202c\u202d\u202e",
      ..."\u2066\u2067\u2068\u2069",
    ];
    const controls = ["\u0000", "\u0007", "\b", "\t", "\n", "\r", "\u001b", "\u007f", "\u009b", "\u2028", "\u2029"];
    const invisible = [
      "\u00a0",
      "\u00ad",
      "\u200b",
      "\u200d",
      "\u3000",
      "\ufeff",
      "\ufffe",
      "\ue000",
      "\u{e0041}",
      "\ud800",
    ];
    for (const character of [...overrides, ...controls, ...invisible]) {
      const name = character.codePointAt(0)!.toString(16);
      expect(quoted(`paid ${character}${character}0${character}`), name).to.equal("paid 0");
    }
    expect(quoted("total: \u202e005 CDSU\u202c\r\n\u001b[2Jpaid")).to.equal("total: 005 CDSU [2Jpaid");
  });

  it("cuts a long text to the given length, never within a character", () => {
    expect(quoted("a".repeat(200))).to.equal("a".repeat(200));
    for (const length of [201, 800, 801, 1e6]) expect(quoted("a".repeat(length))).to.equal(`${"a".repeat(198)}..`);
    expect(quoted("a".repeat(257), 256)).to.equal(`${"a".repeat(254)}..`);
    expect(quoted(`abc${"\u{1f600}".repeat(9)}`, 8)).to.equal("abc\u{1f600}..");
    expect(quoted(`${"\n".repeat(900)}a`)).to.equal("..");
  });

  it("returns an empty string for values that are not strings", () => {
    for (const value of [undefined, null, 1, 1n, {}, ["a"], () => "a"]) expect(quoted(value)).to.equal("");
  });
});
