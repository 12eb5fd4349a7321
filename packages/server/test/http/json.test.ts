import { expect } from "chai";
import { parseStrictJson } from "../../src/http/json.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const codeOf = (input: Uint8Array): unknown => {
  try {
    parseStrictJson(input);
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return undefined;
};

describe("strict JSON", () => {
  const good = [
    '{"a":[1,{"b":"x"}],"c":null}',
    '{"a":{"k":1},"b":{"k":2}}',
    '{"a":"{\\"a\\":1,\\"a\\":2}"}',
    '["a","a"]',
    '{"a":"a","b":"b,\\"a\\":"}',
    '  "text"  ',
    '{"a\\\\":1,"a":2}',
  ];
  for (const text of good)
    it(`parses ${text} like JSON.parse`, () => {
      expect(parseStrictJson(bytes(text))).to.deep.equal(JSON.parse(text));
    });

  const bad: [string, string][] = [
    ['{"a":1,"a":2}', "DUPLICATE_KEY"],
    ['{"a":1,"\\u0061":2}', "DUPLICATE_KEY"],
    ['[{"x":{"a":1,"b":2,"a":3}}]', "DUPLICATE_KEY"],
    ['{"a" :1 , "a" :2}', "DUPLICATE_KEY"],
    ['{"__proto__":{}}', "FORBIDDEN_KEY"],
    ['{"a":{"constructor":1}}', "FORBIDDEN_KEY"],
    ['{"\\u005f_proto__":1}', "FORBIDDEN_KEY"],
    ['{"prototype":1}', "FORBIDDEN_KEY"],
    ["[".repeat(25), "NESTED_TOO_DEEPLY"],
    [`${"[".repeat(50_000)}${"]".repeat(50_000)}`, "NESTED_TOO_DEEPLY"],
    ["{", "INVALID_JSON"],
    ['{"a":1', "INVALID_JSON"],
    ['{"a', "INVALID_JSON"],
    ['{"a\\q":1}', "INVALID_JSON"],
    ["{a:1}", "INVALID_JSON"],
    ['{"a":1}}', "INVALID_JSON"],
    ["]", "INVALID_JSON"],
    ["", "INVALID_JSON"],
    ["\ufeff{}", "INVALID_JSON"],
    ["NaN", "INVALID_JSON"],
  ];
  for (const [text, code] of bad)
    it(`rejects ${JSON.stringify(text.slice(0, 40))}: ${code}`, () => {
      expect(codeOf(bytes(text))).to.equal(code);
    });

  it("rejects invalid UTF-8", () => {
    expect(codeOf(Uint8Array.of(0x22, 0xff, 0x22))).to.equal("INVALID_JSON");
  });

  it("never repeats the body in errors", () => {
    try {
      parseStrictJson(bytes('{"a": canary}'));
      expect.fail("it was read");
    } catch (error) {
      expect((error as Error).message).to.not.include("canary");
    }
  });
});
