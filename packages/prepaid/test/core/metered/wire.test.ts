import { SottoError } from "@sotto/protocol";
import { decodeBase64url, encodeBase64url } from "@sotto/protocol/extend";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import {
  changeClaimOf,
  changeEpochAt,
  decodeMeteredOffer,
  encodeMeteredOffer,
  encodePrepaidHeader,
  formatChangeAnswer,
  formatChangeRequest,
  formatChargeHeader,
  formatSwapAnswer,
  formatSwapRequest,
  formatTermsAnswer,
  MAX_METERED_BODY_BYTES,
  MAX_METERED_TERMS,
  MAX_METERED_UNITS,
  meteredRuleHash,
  nonceOfTokenSecret,
  parseChangeAnswer,
  parseChangeRequest,
  parseChargeHeader,
  parseSwapAnswer,
  parseSwapRequest,
  parseTermsAnswer,
  signChangeClaim,
  signReceipt,
  swapHash,
  verifyChangeClaim,
} from "../../../src/index.ts";
import { MERCHANT, RECEIPT, RECEIPT_SECRETS, RULE, termsOf, VECTORS } from "./support/samples.ts";

const SECRET = new Uint8Array(32).fill(7);
const KEY_ID = `0x${"5d".repeat(32)}`;
const TOKEN = { keyId: KEY_ID, nonce: nonceOfTokenSecret(SECRET) };
const messages = (count: number, fill = 3) => new Uint8Array(256 * count).fill(fill);
const claimOf = (batch?: Uint8Array) => ({
  token: TOKEN,
  proof: signChangeClaim(changeClaimOf(MERCHANT.origin, { token: TOKEN, batch }), SECRET),
  ...(batch === undefined ? {} : { batch }),
});
const header = (fill: number) =>
  encodePrepaidHeader({
    nonce: `0x${fill.toString(16).padStart(2, "0").repeat(32)}`,
    challengeDigest: `0x${"0a".repeat(32)}`,
    keyId: KEY_ID,
    signature: new Uint8Array(256).fill(fill),
  });
const SWAP = { epoch: "2026-12", tokens: [header(1), header(2)], batch: messages(1) };
const RECEIPT_OF_SECRET = signReceipt(RECEIPT, RECEIPT_SECRETS[0]);

/** Runs a parser on texts that differ from a valid one in a few characters: each passes or is refused with a code. */
function expectStrict(parse: (text: string) => unknown, format: (value: never) => string, text: string): void {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(text.length), fc.nat(2), fc.string({ maxLength: 3 })), { minLength: 1, maxLength: 3 }),
      (edits) => {
        const changed = edits.reduce((all, [at, cut, put]) => all.slice(0, at) + put + all.slice(at + cut), text);
        let parsed: unknown;
        try {
          parsed = parse(changed);
        } catch (error) {
          expect(error).to.be.instanceOf(SottoError);
          return;
        }
        expect(parse(format(parsed as never))).to.deep.equal(parsed);
      },
    ),
    { numRuns: fuzzSize(500, 50_000) },
  );
}

describe("base64url", () => {
  it("has one text for each sequence of bytes, the one of Node", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = encodeBase64url(bytes);
        expect(text).to.equal(Buffer.from(bytes).toString("base64url"));
        expect(decodeBase64url(text, bytes.length, "it")).to.deep.equal(bytes);
      }),
      { numRuns: fuzzSize(300, 30_000) },
    );
  });

  it("refuses unused bits, padding, other alphabets and other lengths", () => {
    for (const text of ["AB", "AA==", "A", "+A", "A A", "AAA", 5, undefined])
      expectCode("INVALID_ARGUMENT", () => decodeBase64url(text, 1, "it"));
    expectCode("INVALID_ARGUMENT", () => decodeBase64url("AAB", 2, "it"));
  });
});

describe("the month that signs change", () => {
  it("is the token's own, and from seven days before its tokens end the next one", () => {
    expect(changeEpochAt("2026-11", Date.UTC(2026, 10, 5))).to.equal("2026-11");
    expect(changeEpochAt("2026-11", Date.UTC(2026, 11, 25) - 1)).to.equal("2026-11");
    expect(changeEpochAt("2026-11", Date.UTC(2026, 11, 25))).to.equal("2026-12");
    expect(changeEpochAt("2026-12", Date.UTC(2027, 0, 31))).to.equal("2027-01");
    expectCode("INVALID_STRING", () => changeEpochAt("2026-13", 0));
    expectCode("INVALID_INTEGER", () => changeEpochAt("2026-12", Number.NaN));
  });
});

describe("the wire of metered credit", () => {
  it("says in a 402 what a route takes", () => {
    const offer = { cap: 10_000n, rule: meteredRuleHash(RULE), tokenKeyId: KEY_ID, terms: `0x${"0b".repeat(32)}` };
    const wire = encodeMeteredOffer(offer);
    expect(wire.cap).to.equal("10000");
    expect(decodeMeteredOffer({ ...wire, later: 1 })).to.deep.equal(offer);
    for (const change of [{ cap: 10000 }, { cap: "10001" }, { cap: "010" }, { rule: "0x" }, { terms: undefined }])
      expectCode("INVALID_ARGUMENT", () => decodeMeteredOffer({ ...wire, ...change }));
  });

  it("has one text for a charge in a header", () => {
    expect(parseChargeHeader(formatChargeHeader(1_200n))).to.equal(1_200n);
    for (const value of ["", "-1", "1.5", "01", "1e3", 5, undefined])
      expectCode("INVALID_AMOUNT", () => parseChargeHeader(value));
  });

  it("carries signed terms", () => {
    const signed = { terms: termsOf([VECTORS.receipt.receiptKey]), signature: `0x${"0c".repeat(65)}` };
    const text = formatTermsAnswer([signed]);
    expect(formatTermsAnswer(parseTermsAnswer(text))).to.equal(text);
    expectCode("INVALID_ARGUMENT", () => formatTermsAnswer([]));
    const many = new Array(MAX_METERED_TERMS + 1).fill(signed);
    expectCode("INVALID_ARGUMENT", () => formatTermsAnswer(many));
    expectStrict(parseTermsAnswer, formatTermsAnswer, text);
  });

  it("carries the charge for which a batch was made", () => {
    const claim = { ...claimOf(messages(2)), charge: 1_200n };
    expect(parseChangeRequest(formatChangeRequest(claim))).to.deep.equal(claim);
    const json = JSON.parse(formatChangeRequest(claim));
    expect(json.charge).to.equal("1200");
    for (const charge of [1200, "", "01", "-1", "1.5", null])
      expectCode("INVALID_ARGUMENT", () => parseChangeRequest(JSON.stringify({ ...json, charge })));
  });

  it("carries claims with and without a batch, whose proof signs the batch", () => {
    for (const batch of [undefined, messages(1), messages(8)]) {
      const text = formatChangeRequest(claimOf(batch));
      const parsed = parseChangeRequest(text);
      expect(parsed).to.deep.equal(claimOf(batch));
      expect(verifyChangeClaim(changeClaimOf(MERCHANT.origin, parsed), parsed.proof)).to.equal(true);
      const other = { ...parsed, batch: messages(1, 9) };
      expect(verifyChangeClaim(changeClaimOf(MERCHANT.origin, other), other.proof)).to.equal(false);
    }
  });

  it("refuses claims that are not in this form", () => {
    const valid = JSON.parse(formatChangeRequest(claimOf(messages(1))));
    const changes = [
      { batch: "" },
      { batch: null },
      { batch: encodeBase64url(messages(9)) },
      { batch: encodeBase64url(new Uint8Array(255)) },
      { batch: `${encodeBase64url(messages(1)).slice(0, -1)}B` },
      { nonce: TOKEN.nonce.toUpperCase() },
      { publicKey: 5 },
      { other: 1 },
    ];
    for (const change of changes)
      expectCode("INVALID_ARGUMENT", () => parseChangeRequest(JSON.stringify({ ...valid, ...change })));
    const text = JSON.stringify(valid);
    expectCode("INVALID_ARGUMENT", () => parseChangeRequest(text.replace("{", `{"keyId":"${KEY_ID}",`)));
    expectCode("INVALID_ARGUMENT", () => parseChangeRequest(text + " ".repeat(MAX_METERED_BODY_BYTES)));
    expectStrict(parseChangeRequest, formatChangeRequest, text);
  });

  it("carries the answer to a claim, in at most 16 KiB", () => {
    for (const signatures of [undefined, messages(1), messages(8)]) {
      const answer = {
        epoch: "2026-12",
        receipt: RECEIPT_OF_SECRET,
        ...(signatures === undefined ? {} : { signatures }),
      };
      expect(parseChangeAnswer(formatChangeAnswer(answer))).to.deep.equal(answer);
    }
    const text = formatChangeAnswer({ epoch: "2026-12", receipt: RECEIPT_OF_SECRET, signatures: messages(2) });
    expectCode("INVALID_ARGUMENT", () => parseChangeAnswer(text.replace('"2026-12"', '"2026-13"')));
    expectStrict(parseChangeAnswer, formatChangeAnswer, text);
    const names = Array.from({ length: MAX_METERED_UNITS }, (_, i) => `u${i}`.padEnd(32, "x"));
    const longest = {
      ...RECEIPT,
      origin: `https://${"a".repeat(63)}.${"b".repeat(63)}.example`,
      target: `/${"t".repeat(2047)}`,
      units: Object.fromEntries(names.map((name) => [name, 2n ** 64n - 1n])),
    };
    const receipt = signReceipt(longest, RECEIPT_SECRETS[0]);
    const long = formatChangeAnswer({ epoch: "2026-12", receipt, signatures: messages(8) });
    expect(long.length).to.be.at.most(MAX_METERED_BODY_BYTES);
    expect(parseChangeAnswer(long).receipt).to.deep.equal(receipt);
  });

  it("carries swaps, whose hash covers everything", () => {
    const text = formatSwapRequest(SWAP);
    expect(parseSwapRequest(text)).to.deep.equal(SWAP);
    const others = [{ epoch: "2027-01" }, { tokens: [header(2), header(1)] }, { batch: messages(1, 4) }];
    const hashes = [SWAP, ...others.map((change) => ({ ...SWAP, ...change }))].map(swapHash);
    expect(new Set(hashes).size).to.equal(hashes.length);
    const wrong = [
      { tokens: [header(1)] },
      { tokens: [header(1), header(1)] },
      { tokens: [1, 2, 3, 4, 5, 6].map(header) },
      { tokens: [header(1), `${header(2)}A`] },
      { batch: messages(3) },
      { batch: new Uint8Array(0) },
      { epoch: "December" },
    ];
    for (const change of wrong)
      expectCode("INVALID_ARGUMENT", () => formatSwapRequest({ ...SWAP, ...change } as typeof SWAP));
    expectStrict(parseSwapRequest, formatSwapRequest, text);
  });

  it("carries the answer to a swap", () => {
    const text = formatSwapAnswer(messages(2));
    expect(parseSwapAnswer(text)).to.deep.equal(messages(2));
    expectStrict(parseSwapAnswer, formatSwapAnswer, text);
  });
});
