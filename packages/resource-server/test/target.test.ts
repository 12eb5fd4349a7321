// Targets that two servers could parse differently are rejected.
import { MAX_URL_LENGTH } from "@sotto/protocol";
import { expect } from "chai";
import { parseTarget } from "../src/routes/target.ts";

const ORIGIN = "https://data.example";

describe("a request target", () => {
  it("is parsed and kept unchanged", () => {
    for (const [target, path, query] of [
      ["/", "/", ""],
      ["/reports/7", "/reports/7", ""],
      ["/reports/", "/reports/", ""],
      ["/caf%C3%A9/a%20b", "/café/a b", ""],
      ["/~me/a.b-c_d!$&'()*+,=:@", "/~me/a.b-c_d!$&'()*+,=:@", ""],
      ["/a?b=2&a=1&b=3", "/a", "b=2&a=1&b=3"],
      ["/a?", "/a", ""],
      // Dot segments have no meaning in a query.
      ["/a?next=//b/../c;d%2F", "/a", "next=//b/../c;d%2F"],
    ] as const) {
      const read = parseTarget(ORIGIN, target)!;
      expect([read.target, read.path], target).to.deep.equal([target, path]);
      expect([...read.query], target).to.deep.equal([...new URLSearchParams(query)]);
    }
  });

  it("is rejected if another server could parse another path", () => {
    const refused = [
      ...["//", "//paid", "/a//b", "/a/.", "/a/..", "/./a", "/../a", "/a/../b", "/health/../paid"],
      ...["/%2e/a", "/a/%2E%2e/b", "/a%2Fb", "/a%2fb", "/a%5Cb", "/a\\b", "/\\paid", "/a%00", "/a%0d%0ab", "/a%7F"],
      ...["/p%61id", "/%70aid", "/pai%64", "/%41", "/%30", "/a%5fb", "/a%2Db", "/a%252e", "/a%252Fb", "/a%2541"],
      ...[
        "/a;b",
        "/paid;jsessionid=1",
        "/a%",
        "/a%zz",
        "/a%C3",
        "/a%FF",
        "/a#b",
        "/a b",
        "/a\tb",
        "/caf\u00e9",
        "/a\u0000",
      ],
      ...["", "*", "paid", "?a", "http://data.example/a", "HTTP://other.example/a", "data.example:443", "\\paid"],
    ];
    for (const target of refused) expect(parseTarget(ORIGIN, target), JSON.stringify(target)).to.equal(undefined);
  });

  it("fits into a bundle together with the origin", () => {
    const longest = `/${"a".repeat(MAX_URL_LENGTH - ORIGIN.length - 1)}`;
    expect(parseTarget(ORIGIN, longest)?.target).to.equal(longest);
    expect(parseTarget(ORIGIN, `${longest}a`)).to.equal(undefined);
  });

  it("of any other character is either accepted or rejected", () => {
    for (let code = 0; code < 256; code++) {
      const char = String.fromCharCode(code);
      const encoded = `/a%${code.toString(16).padStart(2, "0")}b`;
      const [raw, escaped] = [parseTarget(ORIGIN, `/a${char}b`), parseTarget(ORIGIN, encoded)];
      // If both spellings are accepted, they have the same meaning and are not separators.
      if (raw !== undefined && escaped !== undefined && char !== "?" && char !== "/")
        expect(escaped.path, encoded).to.equal(raw.path);
      if (/[\w.-]/.test(char)) expect([raw?.path, escaped], encoded).to.deep.equal([`/a${char}b`, undefined]);
      if (code < 0x20 || code > 0x7e) expect(raw, String(code)).to.equal(undefined);
    }
  });
});
