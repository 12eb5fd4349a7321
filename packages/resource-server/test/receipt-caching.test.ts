import { expect } from "chai";
import { isPaidStatus, privateCaching } from "../src/adapters/headers.ts";

describe("the caching of a response with a receipt", () => {
  it("is private, and keeps the application's other directives", () => {
    for (const [before, after] of [
      [undefined, "private"],
      ["no-store", "no-store, private"],
      ["private", "private"],
      ["Private, max-age=60", "max-age=60, private"],
      ["public, max-age=60, s-maxage=600, must-revalidate", "max-age=60, must-revalidate, private"],
      ['private="set-cookie", no-cache', "no-cache, private"],
      ['private="set-cookie, etag", no-cache="a, b",max-age=9', 'no-cache="a, b", max-age=9, private'],
      // A quote that stays open would hide what follows it.
      ['no-cache="a, b', "no-cache=, a, b, private"],
    ] as const)
      expect(privateCaching(before)).to.equal(after);
  });

  it("is that of a status from 200 to 299", () => {
    expect([199, 200, 204, 299, 300, 404, 500].map(isPaidStatus)).to.deep.equal([
      ...[false, true, true, true, false, false, false],
    ]);
  });
});
