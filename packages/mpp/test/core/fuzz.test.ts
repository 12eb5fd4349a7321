import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { expect } from "chai";
import fc from "fast-check";
import { Challenge } from "mppx";
import * as mpp from "../../src/index.ts";
import { challenge } from "./support/charge.ts";

const runs = { numRuns: fuzzSize(500, 20_000) };

/** Text that looks like a header. */
const headerLike = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "Payment ",
        "Bearer ",
        "x402-zk",
        ", ",
        ",",
        "=",
        '"',
        "\\",
        'id="1"',
        'method="sotto"',
        " ",
        "\\u00e9",
      ),
      fc.string({ maxLength: 8 }),
      fc.constant(mpp.encodeChallenge(challenge())),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe("MPP's headers", () => {
  it("are read without an exception for any content", () => {
    fc.assert(
      fc.property(headerLike, (header) => {
        for (const found of mpp.parseChallenges(header))
          expect(mpp.parseChallenges(mpp.encodeChallenge(found))).to.deep.equal([found]);
        for (const { rest } of mpp.paymentSchemes([header]))
          for (const one of rest)
            try {
              mpp.parseCredential(one);
            } catch (error) {
              expect(error).to.be.instanceOf(mpp.MppError);
            }
      }),
      runs,
    );
  });

  it("carry any realm and description, which mppx reads alike", () => {
    const text = fc.string({ unit: "binary", maxLength: 40 }).filter((one) => /^[^\p{Cc}\p{Cs}]*$/u.test(one));
    fc.assert(
      fc.property(text, text, (realm, description) => {
        const own = { ...challenge(), realm, description };
        const header = mpp.encodeChallenge(own);
        expect(header).to.match(/^[\t -~]*$/);
        expect(mpp.parseChallenges(header)).to.deep.equal([own]);
        expect(Challenge.deserialize(header)).to.include({ realm, ...(description === "" ? {} : { description }) });
      }),
      runs,
    );
  });

  it("carry any JSON in a credential", () => {
    const json = fc.dictionary(
      fc.string().filter((key) => !["__proto__", "constructor", "prototype"].includes(key)),
      fc.jsonValue({ maxDepth: 3, noUnicodeString: false }),
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(json, (value) => {
        const payload = JSON.parse(JSON.stringify(value)) as mpp.Json;
        const text = JSON.stringify(payload);
        fc.pre(text.length < 3_000 && !/"(?:__proto__|constructor|prototype)":/.test(text));
        const header = mpp.encodeCredential({ challenge: challenge(), payload });
        expect(mpp.parseCredential(mpp.paymentSchemes([header])[0]!.rest[0]!).payload).to.deep.equal(payload);
      }),
      runs,
    );
  });
});
