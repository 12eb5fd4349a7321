import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex } from "@sotto/protocol";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { checkCharges } from "../../src/client/check-charges.ts";
import { laterEpoch, type SignedReceipt, signReceipt } from "../../src/index.ts";
import { RECEIPT, RECEIPT_SECRETS, RULE, termsOf } from "../core/metered/support/samples.ts";

const KEYS = RECEIPT_SECRETS.map((secret) => bytesToHex(ed25519.getPublicKey(secret)));
const ORIGINS = ["https://one.example", "https://two.example"];

describe("receipts and terms of many months", () => {
  const months = (origin: string, count: number) =>
    Array.from({ length: count }, (_, i) =>
      termsOf(KEYS.slice(0, 1), { origin, firstEpoch: laterEpoch(RECEIPT.epoch, i) }),
    );

  it("are compared for each merchant: 100 terms of one, and others of another", async () => {
    const dear = { charge: 3_100n, change: 6_900n };
    const receipts = ORIGINS.map((origin) => signReceipt({ ...RECEIPT, ...dear, origin }, RECEIPT_SECRETS[0]!));
    const terms = ORIGINS.flatMap((origin) => months(origin, 100));
    const { charges, contradictions } = checkCharges(receipts, terms);
    expect(charges.map(({ signed, ruleKnown }) => [signed, ruleKnown])).to.deep.equal([
      [true, true],
      [true, true],
    ]);
    expect(contradictions.map(({ kind }) => kind)).to.deep.equal(["charge", "charge"]);
    await expectRejected("INVALID_ARGUMENT", async () => checkCharges(receipts, months(ORIGINS[0]!, 101)));
  });

  it("are compared in parts, with all receipts of one token in the same part", function () {
    slow(this, "10,000 receipts");
    const token = (i: number) => `0x${i.toString(16).padStart(64, "0")}` as const;
    const signed = (i: number, units = RECEIPT.units) =>
      signReceipt({ ...RECEIPT, token: token(i), units, charge: 0n, change: RULE.cap }, RECEIPT_SECRETS[0]!);
    const unsigned = (i: number): SignedReceipt => ({
      receipt: { ...RECEIPT, epoch: "2031-01", token: token(i) },
      signature: `0x${"00".repeat(64)}`,
    });
    // Two receipts of one token are first and last, and two terms contradict each other.
    const many = Array.from({ length: 10_000 }, (_, i) => unsigned(i + 1));
    const terms = [
      termsOf(KEYS),
      termsOf(KEYS, { routes: [{ method: "POST", path: "/v1/chat", rule: { ...RULE, base: 200n } }] }),
    ];
    const { contradictions } = checkCharges([signed(0), ...many, signed(0, {}), signed(10_001)], terms);
    expect(contradictions.map(({ kind }) => kind).filter((kind) => kind !== "rule")).to.deep.equal(["terms", "token"]);
  });
});
