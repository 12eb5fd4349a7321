import { expect } from "chai";
import { matchesEtag, parseRange } from "../../src/artifacts/range.ts";

describe("byte ranges of a file of 100 bytes", () => {
  const cases: [string | undefined, unknown][] = [
    [undefined, undefined],
    ["", undefined],
    ["bytes=0-9", { start: 0, end: 9 }],
    ["bytes=90-", { start: 90, end: 99 }],
    ["bytes=90-1000", { start: 90, end: 99 }],
    ["bytes=-10", { start: 90, end: 99 }],
    ["bytes=-1000", { start: 0, end: 99 }],
    ["bytes=99-99", { start: 99, end: 99 }],
    ["bytes=100-", "unsatisfiable"],
    ["bytes=100-200", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    ["bytes=9-0", undefined],
    ["bytes=0-1,5-6", undefined],
    ["bytes=-", undefined],
    ["bytes=a-b", undefined],
    ["lines=0-9", undefined],
    ["bytes=0-99999999999999999999", undefined],
  ];
  for (const [header, expected] of cases)
    it(`${header ?? "no header"}`, () => {
      expect(parseRange(header, 100)).to.deep.equal(expected);
    });
});

describe("If-None-Match", () => {
  it("accepts one tag, several, weak ones and *", () => {
    expect(matchesEtag('"a"', '"a"')).to.equal(true);
    expect(matchesEtag('"b", W/"a"', '"a"')).to.equal(true);
    expect(matchesEtag("*", '"a"')).to.equal(true);
    expect(matchesEtag('"b"', '"a"')).to.equal(false);
    expect(matchesEtag(undefined, '"a"')).to.equal(false);
  });
});
