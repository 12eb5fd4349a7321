import { hexToBytes } from "@sotto/protocol";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import {
  type ChargeReceipt,
  chargeOf,
  contradictions,
  type MeteredTerms,
  meteredRuleHash,
  type SignedReceipt,
  signReceipt,
  verifyReceipt,
} from "../../../src/index.ts";
import { RECEIPT, RECEIPT_SECRETS, RULE, termsOf, VECTORS } from "./support/samples.ts";

const SECRETS = [RECEIPT_SECRETS[0], hexToBytes(VECTORS.tokens.each[0]!.secret, 32)] as const;
const KEYS = [VECTORS.receipt.receiptKey, VECTORS.tokens.each[0]!.publicKey] as const;
const terms = termsOf(KEYS);
const OTHER = `0x${"ce".repeat(32)}`;
const CHEAPER = { ...RULE, base: 0n };
const sign = (change: Partial<ChargeReceipt> = {}, secret: Uint8Array = SECRETS[0]): SignedReceipt =>
  signReceipt({ ...RECEIPT, ...change }, secret);
const kinds = (receipts: readonly SignedReceipt[], statements: readonly MeteredTerms[] = [terms]) =>
  contradictions(receipts, statements).map(({ kind }) => kind);

describe("contradictions", () => {
  it("convict a merchant that signs two receipts for one token", () => {
    const pair = [sign(), sign({ charge: 3100n, change: 6900n, units: { input: 1200n, output: 4600n } })] as const;
    expect(contradictions(pair, [terms])).to.deep.equal([{ kind: "token", receipts: pair }]);
    // Of another month, whose key is another one.
    expect(kinds([sign(), sign({ epoch: "2027-01" }, SECRETS[1])])).to.deep.equal(["token"]);
    expect(kinds([...pair, sign({ charge: 0n, change: 10_000n })])).to.deep.equal(["token", "token"]);
  });

  it("convict a merchant whose charge or change does not follow from rule and units", () => {
    const overcharged = sign({ charge: 3100n, change: 6900n });
    expect(contradictions([overcharged], [terms])).to.deep.equal([
      { kind: "charge", receipt: overcharged, rule: RULE },
    ]);
    for (const change of [
      { charge: 2900n, change: 7100n },
      { change: 6900n },
      { change: 7100n },
      { charge: 0n, change: 9_900n },
      { charge: 3000n, change: 0n },
      { units: {} },
      { units: { ...RECEIPT.units, cached: 1n } },
      { units: { input: 1200n, output: 4700n } },
    ])
      expect(kinds([sign(change)]), JSON.stringify(Object.keys(change))).to.deep.equal(["charge"]);
  });

  it("convict a merchant whose receipt names another rule than its terms", () => {
    const receipt = sign({ rule: meteredRuleHash(CHEAPER) });
    expect(contradictions([receipt], [terms])).to.deep.equal([{ kind: "rule", receipt, terms, rule: RULE }]);
    // Its rule is that of another month: the charge is judged by it, and does not follow from it either.
    const next = termsOf([KEYS[1]], { firstEpoch: "2027-02", routes: [{ ...terms.routes[0]!, rule: CHEAPER }] });
    expect(kinds([receipt], [terms, next])).to.deep.equal(["charge", "rule"]);
    for (const method of ["GET", "HEAD"])
      expect(kinds([sign({ method, target: "/files/a" })]), method).to.deep.equal(["rule"]);
  });

  it("convict a merchant that signs two rules for one request and month", () => {
    const other = termsOf(KEYS, { routes: [{ ...terms.routes[0]!, rule: CHEAPER }] });
    expect(contradictions([], [terms, other])).to.deep.equal([
      { kind: "terms", terms: [terms, other], epoch: "2026-12", routes: [terms.routes[0], other.routes[0]] },
    ]);
    expect(kinds([sign()], [terms, other])).to.deep.equal(["terms", "rule"]);
  });

  it("convict a merchant that signs two receipt keys for one month", () => {
    const other = termsOf([KEYS[0], VECTORS.tokens.each[1]!.publicKey]);
    expect(contradictions([sign()], [terms, other])).to.deep.equal([
      { kind: "terms", terms: [terms, other], epoch: "2027-01" },
    ]);
  });

  it("never convict an honest merchant", () => {
    const failed = sign({ token: OTHER, charge: 0n, change: 10_000n });
    const unused = sign({ token: `0x${"01".repeat(32)}`, units: {}, charge: 100n, change: 9_900n });
    const capped = sign({ token: `0x${"02".repeat(32)}`, units: { output: 1n << 60n }, charge: 10_000n, change: 0n });
    const later = sign({ token: `0x${"03".repeat(32)}`, epoch: "2027-01" }, SECRETS[1]);
    const receipts = [sign(), failed, unused, capped, later];
    expect(contradictions(receipts, [terms])).to.deep.equal([]);
    // The same receipt twice, the same terms twice, and terms that add a route, a month and a change of price.
    const added = termsOf(KEYS, { routes: [...terms.routes, { method: "GET", path: "/new", rule: CHEAPER }] });
    const changed = termsOf([VECTORS.tokens.each[1]!.publicKey], {
      firstEpoch: "2027-02",
      routes: [{ ...terms.routes[0]!, rule: CHEAPER }],
    });
    expect(contradictions([...receipts, ...receipts], [terms, { ...terms }, added, changed])).to.deep.equal([]);
    expect(contradictions([], [])).to.deep.equal([]);
    expect(contradictions(receipts, [])).to.deep.equal([]);
  });

  it("never convict an honest merchant, for any units, requests and failures", () => {
    const requests = fc.array(
      fc.record({
        input: fc.nat(),
        output: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
        isFailed: fc.boolean(),
        isLater: fc.boolean(),
      }),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(requests, (all) => {
        const receipts = all.map(({ input, output, isFailed, isLater }, i) => {
          const units = { input: BigInt(input), output };
          const charge = isFailed ? 0n : chargeOf(RULE, units);
          const token = `0x${String(i).padStart(64, "0")}`;
          const epoch = isLater ? "2027-01" : "2026-12";
          return sign({ token, epoch, units, charge, change: RULE.cap - charge }, SECRETS[isLater ? 1 : 0]);
        });
        expect(contradictions([...receipts, receipts[0]!], [terms])).to.deep.equal([]);
      }),
      { numRuns: fuzzSize(20, 500) },
    );
  });

  it("ignore what the merchant's receipt keys did not sign, so that nobody can accuse it", () => {
    const wrong = { charge: 3100n, change: 6900n };
    for (const receipt of [
      sign(wrong, RECEIPT_SECRETS[1]),
      { ...sign(), receipt: { ...RECEIPT, ...wrong } },
      // The key of the other month.
      sign(wrong, SECRETS[1]),
      sign({ ...wrong, epoch: "2027-01" }),
      sign({ ...wrong, epoch: "2027-02" }),
      ...(["wallet", "pool"] as const).map((name) => sign({ ...wrong, [name]: `0x${"12".repeat(20)}` })),
      sign({ ...wrong, chainId: 1n }),
      sign({ ...wrong, origin: "https://other.example" }),
    ])
      expect(contradictions([sign(), receipt], [terms])).to.deep.equal([]);
    // A valid receipt is not lost among copies of it whose signature is not.
    const overcharged = sign(wrong);
    const copy = { ...overcharged, signature: `0x${"00".repeat(64)}` };
    expect(verifyReceipt(copy, KEYS[0])).to.equal(false);
    expect(kinds([copy, overcharged, copy])).to.deep.equal(["charge"]);
  });

  it("judge no receipt whose rule no terms contain, if the terms have none for its request", () => {
    expect(kinds([sign({ target: "/v3", rule: OTHER })])).to.deep.equal([]);
  });

  it("compare the terms of one merchant and deployment only", () => {
    const routes = [{ ...terms.routes[0]!, rule: CHEAPER }];
    for (const change of [
      { wallet: terms.pool },
      { pool: terms.wallet },
      { chainId: 1n },
      { origin: "https://b.example" },
    ])
      expect(kinds([sign()], [terms, termsOf(KEYS, { routes, ...change })])).to.deep.equal([]);
  });

  it("are refused for malformed values", () => {
    for (const wrong of [null, undefined, {}, [null], [{}], [{ receipt: RECEIPT }], Array(10_001).fill(sign())])
      expect(() => contradictions(wrong as never, [terms]))
        .to.throw(/./)
        .with.property("code");
    for (const wrong of [null, undefined, {}, [null], Array(101).fill(terms)])
      expectCode("INVALID_ARGUMENT", () => contradictions([sign()], wrong as never));
  });
});
