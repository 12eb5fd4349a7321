import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import {
  BASE_FIELD_MODULUS,
  FIELD_MODULUS,
  MAX_PROOF_HEADER_LENGTH,
  parseProofHeader,
  SottoError,
} from "../src/index.ts";
import { runs } from "./support/arbitraries.ts";
import { bundle, header, json, LISTED, PAID, REST, txSignature } from "./support/proof-header.ts";
import { replaced, WRONG } from "./support/wrong-values.ts";

describe("a proof header that is not JSON", () => {
  it("is rejected with the parser's message", () => {
    for (const text of [
      "",
      " ",
      "{",
      "proof",
      "{'proof': 1}",
      `${header}x`,
      `${header},${header}`,
      "NaN",
      "undefined",
      "01",
      '{"a":\u0009"\u0009"}',
    ]) {
      let words = "";
      try {
        JSON.parse(text);
      } catch (error) {
        words = (error as Error).message;
      }
      const error = expectCode("PROOF_HEADER_NOT_JSON", () => parseProofHeader(text));
      expect(words, text).to.not.equal("");
      expect(error.message).to.equal(words);
    }
  });

  it("is rejected without parsing if it is too long, not ASCII or not a single string", () => {
    const padded = header + " ".repeat(MAX_PROOF_HEADER_LENGTH - header.length);
    expect(parseProofHeader(padded).txSignature).to.equal(txSignature);
    const bad: unknown[] = [
      `${padded} `,
      "1".repeat(1 << 20),
      `${header}\u00a0`,
      `${header}\n`,
      `${header}\0`,
      `\ufeff${header}`,
    ];
    bad.push(header.replace("data.example", "däta.example"), undefined, null, 5, [header], { toString: () => header });
    for (const value of bad) expectCode("PROOF_HEADER_NOT_JSON", () => parseProofHeader(value as string));
    // Within the maximum length, nesting is never deep enough to overflow the parser's stack.
    expectCode("PROOF_HEADER_INVALID", () => parseProofHeader("[".repeat(4096) + "]".repeat(4096)));
  });
});

describe("a proof header that is JSON but invalid", () => {
  it("is rejected if it is not an object", () => {
    for (const text of ["null", "42", "[]", "{}", '""', "true", "1e400", "-0", '[{"proof":[]}]', '{"__proto__":{}}'])
      expectCode("PROOF_HEADER_INVALID", () => parseProofHeader(text));
  });

  const mutate = (name: string, value: unknown) => {
    // JSON.stringify cannot write Infinity, but JSON.parse returns it for 1e400.
    const text = JSON.stringify(replaced(json, [name], value === Number.POSITIVE_INFINITY ? "@" : value));
    const asAscii = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return text.replace('"@"', "1e400").replace(/[\u007f-\uffff]/g, asAscii);
  };

  for (const name of [...LISTED, ...PAID]) {
    it(`is rejected with a wrong ${name}`, () => {
      for (const value of WRONG) expectCode("PROOF_HEADER_INVALID", () => parseProofHeader(mutate(name, value)));
    });
  }

  for (const name of REST) {
    it(`is rejected with a wrong ${name}, though the field is optional`, () => {
      expect(parseProofHeader(mutate(name, undefined))).to.have.property(name, undefined);
      for (const value of WRONG) {
        const isText = name === "resourceUrl" && typeof value === "string" && value !== "" && value !== "\ud800";
        if (value === undefined || isText) continue;
        expectCode("PROOF_HEADER_INVALID", () => parseProofHeader(mutate(name, value)));
      }
    });
  }

  it("is rejected with a non-canonical or too large number in any place", () => {
    const arrays: [string, number, bigint][] = [
      ["proof", 8, BASE_FIELD_MODULUS],
      ["amountProof", 8, BASE_FIELD_MODULUS],
      ["publicSignals", 10, FIELD_MODULUS],
      ["amountPublicSignals", 6, FIELD_MODULUS],
    ];
    for (const [name, length, modulus] of arrays) {
      const good = json[name] as string[];
      expect(good).to.have.length(length);
      for (let i = 0; i < length; i++)
        for (const bad of [
          String(modulus),
          "00",
          "01",
          "-1",
          "+1",
          " 1",
          "1 ",
          "1.0",
          "1e1",
          "0x1",
          "",
          "9".repeat(78),
          1,
          null,
          ["1"],
        ])
          expectCode("PROOF_HEADER_INVALID", () => parseProofHeader(mutate(name, good.with(i, bad as string))));
      for (const bad of [good.slice(1), [...good, "1"], Object.fromEntries(good.entries())])
        expectCode("PROOF_HEADER_INVALID", () => parseProofHeader(mutate(name, bad)));
    }
  });

  it("is rejected with an invalid point, token or hash", () => {
    const bad: [string, unknown][] = [
      ["encryptedAmount", `0x${"00".repeat(64)}`],
      ["encryptedAmount", `0x01${"00".repeat(31)}${bundle.encryptedAmount.slice(66)}`],
      ["encryptedAmount", `${bundle.encryptedAmount}00`],
      ["encryptedAmount", bundle.encryptedAmount.toUpperCase()],
      ["paymentToken", "a.b"],
      ["paymentToken", "a.b.c.d"],
      ["paymentToken", "a..c"],
      ["paymentToken", "a.b=.c"],
      ["paymentToken", "a.b.c\n"],
      ["txSignature", txSignature.slice(2)],
      ["txSignature", txSignature.toUpperCase()],
      ["txSignature", `${txSignature}00`],
      ["txSignature", [txSignature]],
      ["recipientPublicKey", "0x70997970C51812dc3A010C7d01b50e0d17dc79c8"],
      ["timestamp", "1795243853123"],
      ["timestamp", 8_640_000_000_000_001],
      ["resourceUrl", "a".repeat(2049)],
    ];
    for (const [name, value] of bad) expectCode("PROOF_HEADER_INVALID", () => parseProofHeader(mutate(name, value)));
    // The wallet may be spelled with its checksum, as in a 402 response.
    const spelled = mutate("recipientPublicKey", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8");
    expect(parseProofHeader(spelled).recipientPublicKey).to.equal(bundle.recipientPublicKey);
  });

  it("uses the last of duplicate fields, and reads no field from a prototype", () => {
    const twice = header.replace("{", `{"txSignature":"0x${"cd".repeat(32)}",`);
    expect(parseProofHeader(twice).txSignature).to.equal(txSignature);
    const later = header.replace(/}$/, `,"txSignature":"0x${"cd".repeat(32)}"}`);
    expect(parseProofHeader(later).txSignature).to.equal(`0x${"cd".repeat(32)}`);
    const { proof: _, ...rest } = json;
    expectCode("PROOF_HEADER_INVALID", () =>
      parseProofHeader(`{"__proto__":${header},${JSON.stringify(rest).slice(1)}`),
    );
    expect(parseProofHeader(header.replace("{", '{"__proto__":{"polluted":1},"constructor":5,'))).to.deep.equal(
      parseProofHeader(header),
    );
    expect(({} as Record<string, unknown>)["polluted"]).to.equal(undefined);
  });

  it("is rejected with a code after any mutation", () => {
    const index = fc.nat({ max: header.length - 1 });
    const insert = fc.string({ maxLength: 3 });
    fc.assert(
      fc.property(index, fc.nat({ max: 40 }), insert, (at, cut, text) => {
        try {
          parseProofHeader(header.slice(0, at) + text + header.slice(at + cut));
        } catch (error) {
          expect(error).to.be.instanceOf(SottoError);
          expect((error as SottoError).code).to.match(/^PROOF_HEADER_(NOT_JSON|INVALID)$/);
        }
      }),
      runs(1000),
    );
  });
});
