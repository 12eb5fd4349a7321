import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import {
  assertSameCiphertext,
  decodeBundle,
  encodeProofHeader,
  MAX_PAYMENT_TOKEN_LENGTH,
  MAX_PROOF_HEADER_LENGTH,
  MAX_URL_LENGTH,
  maxProofHeaderLength,
  parseProofHeader,
} from "../src/index.ts";
import { runs } from "./support/arbitraries.ts";
import {
  bundle,
  content,
  header,
  json,
  LISTED,
  PAID,
  paymentToken,
  REST,
  signals,
  txSignature,
} from "./support/proof-header.ts";

describe("the proof header", () => {
  it("contains the bundle, token and transaction as compact JSON", () => {
    expect(Object.keys(json)).to.have.members([...LISTED, ...REST, ...PAID]);
    expect(header).to.equal(JSON.stringify(json));
    const { senderCommitment, amountPublicSignals, resourceUrl, ...read } = parseProofHeader(header);
    const decoded = decodeBundle(bundle);
    expect({ ...read, senderCommitment, amountPublicSignals, resourceUrl }).to.deep.equal({
      ...decoded,
      paymentToken,
      txSignature,
    });
    assertSameCiphertext(parseProofHeader(header) as never);
    expect(decodeBundle(json)).to.deep.equal(decoded);
  });

  it("is valid with only the required fields", () => {
    const short = Object.fromEntries([...LISTED, ...PAID].map((name) => [name, json[name]]));
    const read = parseProofHeader(JSON.stringify(short));
    for (const name of REST) expect(read).to.have.property(name, undefined);
    expect(read.publicSignals).to.deep.equal(signals.map(BigInt));
  });

  it("omits the rest of the bundle if there is no room for it", () => {
    const tokenOf = (length: number) => `a.${"b".repeat(length)}.c`;
    const without = (length: number) => encodeProofHeader({ ...content, paymentToken: tokenOf(length) });
    const free = MAX_PROOF_HEADER_LENGTH - header.length + paymentToken.length - 4;
    expect(without(free)).to.have.length(MAX_PROOF_HEADER_LENGTH);
    expect(JSON.parse(without(free))).to.have.property("resourceUrl");
    const short = without(free + 1);
    expect(Object.keys(JSON.parse(short))).to.have.members([...LISTED, ...PAID]);
    const most = free + 1 + MAX_PROOF_HEADER_LENGTH - short.length;
    expect(without(most)).to.have.length(MAX_PROOF_HEADER_LENGTH);
    expectCode("PROOF_HEADER_INVALID", () => without(most + 1), /8193/);
  });

  it("is never longer than its limit, and fails if it cannot fit", () => {
    const full = header.length;
    expect(encodeProofHeader(content, full)).to.equal(header);
    const short = encodeProofHeader(content, full - 1);
    expect(Object.keys(JSON.parse(short))).to.have.members([...LISTED, ...PAID]);
    expect(encodeProofHeader(content, short.length)).to.equal(short);
    const needed = new RegExp(`${short.length} characters, but the server accepts ${short.length - 1}`);
    expectCode("PROOF_HEADER_INVALID", () => encodeProofHeader(content, short.length - 1), needed);
  });

  it("has a maximum size that is known before the payment", () => {
    const token = `a.${"b".repeat(MAX_PAYMENT_TOKEN_LENGTH - 4)}.c`;
    for (const resourceUrl of [
      "https://data.example/",
      `https://data.example/${"a".repeat(2027)}`,
      `https://"/${"ä".repeat(9)}`,
    ]) {
      const largest = {
        ...content,
        bundle: { ...bundle, resourceUrl, timestamp: 8_640_000_000_000_000 },
        paymentToken: token,
      };
      const actual = encodeProofHeader(largest).length;
      const most = maxProofHeaderLength(resourceUrl);
      expect(actual).to.be.at.most(most);
      // Only the signals of this range proof have fewer digits than the maximum.
      expect(most - actual).to.be.below(400);
    }
    // A header has room for the whole bundle with any URL that needs no escapes.
    expect(maxProofHeaderLength("h".repeat(MAX_URL_LENGTH))).to.equal(7_188);
    expect(maxProofHeaderLength('"'.repeat(MAX_URL_LENGTH))).to.be.above(MAX_PROOF_HEADER_LENGTH);
    expect(maxProofHeaderLength()).to.be.below(5_000);
  });

  it("is ASCII for every resource URL", () => {
    const urls = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(urls, (text) => {
        const resourceUrl = `https://data.example/${text}`;
        const encoded = encodeProofHeader({ ...content, bundle: { ...bundle, resourceUrl } });
        expect(encoded).to.match(/^[ -~]+$/);
        expect(parseProofHeader(encoded).resourceUrl).to.equal(resourceUrl);
      }),
      runs(100),
    );
    // Each "ä" takes six ASCII characters: the header omits the URL rather than exceed the limit.
    const long = encodeProofHeader({ ...content, bundle: { ...bundle, resourceUrl: "ä".repeat(2048) } });
    expect(JSON.parse(long)).to.not.have.property("resourceUrl");
  });

  it("is not built from invalid values", () => {
    for (const name of [...LISTED, ...REST])
      for (const value of [null, {}, [null], "x y", -1, 0.5, Number.NaN])
        if (!(name === "resourceUrl" && value === "x y"))
          expectCode("PROOF_HEADER_INVALID", () =>
            encodeProofHeader({ ...content, bundle: { ...bundle, [name]: value } as never }),
          );
    for (const junk of [null, undefined, 5, {}, { bundle: 5 }])
      expectCode("PROOF_HEADER_INVALID", () => encodeProofHeader(junk as never));
    expectCode("PROOF_HEADER_INVALID", () => encodeProofHeader({ ...content, paymentToken: "a.b" }));
    expectCode("PROOF_HEADER_INVALID", () => encodeProofHeader({ ...content, txSignature: "0x" }));
  });
});
