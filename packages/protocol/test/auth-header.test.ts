import { expect } from "chai";
import { authSchemes, isAuthScheme } from "../src/extend.ts";

describe("the schemes of an authentication header", () => {
  const read = (...values: string[]) => authSchemes(values).map(({ scheme, rest }) => [scheme, ...rest]);

  it("are separated, each with its parameters or its token", () => {
    for (const [value, expected] of [
      ["", []],
      [" , ,", []],
      ["Basic dXNlcg==", [["Basic", "dXNlcg=="]]],
      ["x402-zk", [["x402-zk"]]],
      [
        "Bearer a, Payment b",
        [
          ["Bearer", "a"],
          ["Payment", "b"],
        ],
      ],
      [
        'Digest a="b, Payment c" , d=e,Payment f',
        [
          ["Digest", 'a="b, Payment c"', "d=e"],
          ["Payment", "f"],
        ],
      ],
      [
        'A b="\\", C d", E f',
        [
          ["A", 'b="\\", C d"'],
          ["E", "f"],
        ],
      ],
      ["A b = c, d =e", [["A", "b = c", "d =e"]]],
      ['A b="no end, C d', [["A", 'b="no end, C d']]],
      ["a=b, C d", [[""], ["C", "d"]]],
    ] as const)
      expect(read(value), value).to.deep.equal(expected);
  });

  it("begin anew in each line", () => {
    expect(read("Bearer a", "b=c")).to.deep.equal([["Bearer", "a"], [""]]);
    expect(read('Digest a="open', "Payment b")).to.deep.equal([
      ["Digest", 'a="open'],
      ["Payment", "b"],
    ]);
  });

  it("keep their text as it was sent, and have names in any case", () => {
    const [digest, payment, ...others] = authSchemes([' Digest  a="b",,c=d ,\tpAyMENT e', "Basic, a =b , =c"]);
    expect([digest, payment, ...others].map((scheme) => scheme?.text)).to.deep.equal([
      'Digest  a="b",,c=d',
      "pAyMENT e",
      "Basic, a =b",
      "=c",
    ]);
    expect([isAuthScheme(payment!, "Payment"), isAuthScheme(digest!, "Payment")]).to.deep.equal([true, false]);
  });
});
