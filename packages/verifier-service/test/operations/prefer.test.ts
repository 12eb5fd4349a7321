import { expect } from "chai";
import { parsePreferences } from "../../src/operations/prefer.ts";

describe("the header Prefer", () => {
  it("is parsed with and without a wait, alone and among other preferences", () => {
    for (const [header, respondAsync, wait] of [
      [undefined, false, undefined],
      ["", false, undefined],
      ["respond-async", true, undefined],
      ["Respond-Async, WAIT=10", true, 10],
      ['respond-async; foo="a, b", wait = "7"', true, 7],
      [["respond-async", "wait=5"], true, 5],
      ["wait=100", false, 100],
      ["return=minimal,respond-async;x=1 ,wait=0", true, 0],
      ['x="respond-async, wait=3"', false, undefined],
      ["respond-asynchronously", false, undefined],
    ] as const)
      expect(parsePreferences(header), String(header)).to.deep.equal({ respondAsync, wait });
  });

  it("uses the first of duplicate preferences, and ignores a malformed wait", () => {
    expect(parsePreferences("wait=3, wait=9").wait).to.equal(3);
    for (const wait of ["-1", "1.5", "1e3", "", "soon", "12345678", "0x10"])
      expect(parsePreferences(`respond-async, wait=${wait}`), wait).to.deep.equal({
        respondAsync: true,
        wait: undefined,
      });
  });

  it("is ignored if too long, and parses in linear time", () => {
    expect(parsePreferences(`respond-async, x="${"y".repeat(300)}"`).respondAsync).to.equal(false);
    // With catastrophic backtracking, these would not finish.
    for (const part of ['"', "\\", "a=", ",", '="', '"\\', ";a", "a "])
      expect(parsePreferences(part.repeat(256 / part.length)).respondAsync).to.equal(false);
  });
});
