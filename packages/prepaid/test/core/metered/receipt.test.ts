import { createPublicKey, verify } from "node:crypto";
import { bytesToHex, hexToBytes, SottoError } from "@sotto/protocol";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import {
  type ChargeReceipt,
  formatReceipt,
  MAX_RECEIPT_LENGTH,
  parseReceipt,
  receiptMessage,
  signReceipt,
  verifyReceipt,
} from "../../../src/index.ts";
import { RECEIPT, RECEIPT_SECRETS, VECTORS } from "./support/samples.ts";

const { receiptKey, message, text, secret } = VECTORS.receipt;
const signed = signReceipt(RECEIPT, RECEIPT_SECRETS[0]);
const OTHER = `0x${"ce".repeat(32)}`;

/** Every field with another valid value. */
const CHANGES: Readonly<Record<keyof ChargeReceipt, unknown>> = {
  wallet: RECEIPT.pool,
  chainId: 1n,
  pool: RECEIPT.wallet,
  origin: "https://other.example",
  epoch: "2027-01",
  token: OTHER,
  method: "GET",
  target: "/v1/chat",
  rule: OTHER,
  units: { ...RECEIPT.units, input: 1201n },
  charge: 2900n,
  change: 7100n,
};

describe("a receipt of a charge", () => {
  it("has the bytes, the signature and the text that another implementation makes", () => {
    expect(bytesToHex(RECEIPT_SECRETS[0])).to.equal(secret);
    expect(new TextDecoder().decode(receiptMessage(RECEIPT))).to.equal(message);
    expect(formatReceipt(signed)).to.equal(text);
    expect(verifyReceipt(signed, receiptKey)).to.equal(true);
    const spki = Buffer.from(`302a300506032b6570032100${receiptKey.slice(2)}`, "hex");
    const key = createPublicKey({ key: spki, format: "der", type: "spki" });
    expect(verify(null, Buffer.from(message), key, hexToBytes(signed.signature, 64))).to.equal(true);
  });

  it("survives a round trip as text, and has one form", () => {
    expect(parseReceipt(text)).to.deep.equal({ receipt: RECEIPT, signature: signed.signature });
    const units = { output: 4500n, input: 1200n, cached: 0n };
    expect(signReceipt({ ...RECEIPT, units }, RECEIPT_SECRETS[0])).to.deep.equal(signed);
    const spaced = JSON.stringify(JSON.parse(text), null, 2);
    expect(parseReceipt(spaced)).to.deep.equal(signed);
    expect(verifyReceipt(parseReceipt(spaced), receiptKey)).to.equal(true);
  });

  it("is not accepted with any other field than the signed ones, or by another key", () => {
    for (const [name, value] of Object.entries(CHANGES)) {
      const receipt = { ...RECEIPT, [name]: value } as ChargeReceipt;
      expect(verifyReceipt({ ...signed, receipt }, receiptKey), name).to.equal(false);
    }
    expect(verifyReceipt(signReceipt(RECEIPT, RECEIPT_SECRETS[1]), receiptKey)).to.equal(false);
    const signature = hexToBytes(signed.signature, 64);
    signature[40]! ^= 1;
    expect(verifyReceipt({ ...signed, signature: bytesToHex(signature) }, receiptKey)).to.equal(false);
  });

  it("fits into its size limit with the longest fields", () => {
    const units = Object.fromEntries(
      Array.from({ length: 32 }, (_, i) => [`u${String(i).padStart(31, "0")}`, (1n << 64n) - 1n]),
    );
    const largest: ChargeReceipt = {
      ...RECEIPT,
      chainId: 2n ** 53n - 1n,
      origin: `https://${"a".repeat(60)}.${"b.".repeat(900)}example`,
      method: "M".repeat(32),
      target: `/${'"'.repeat(2047)}`,
      units,
      charge: (1n << 64n) - 1n,
      change: (1n << 64n) - 1n,
    };
    const longest = formatReceipt(signReceipt(largest, RECEIPT_SECRETS[0]));
    expect(longest.length).to.be.within(MAX_RECEIPT_LENGTH / 2, MAX_RECEIPT_LENGTH);
    expect(parseReceipt(longest).receipt).to.deep.equal(largest);
  });

  it("is refused if its text is too long, no JSON, or has a field that is missing, unknown, twice or malformed", () => {
    const { receipt, signature } = JSON.parse(text);
    const withField = (name: string, value: unknown) => ({ receipt: { ...receipt, [name]: value }, signature });
    const wrong: unknown[] = [
      ...[null, [], {}, "x", 5, receipt, { receipt, signature, key: "0x" }, { receipt }, { receipt: null, signature }],
      ...["", "0x", `0x${"00".repeat(63)}`, signature.toUpperCase(), null].map((other) => ({
        receipt,
        signature: other,
      })),
      ...Object.keys(receipt).flatMap((name) => {
        const { [name]: _, ...rest } = receipt;
        return [{ receipt: rest, signature }, ...[null, undefined, "", "x y", {}, [1]].map((v) => withField(name, v))];
      }),
      withField("tip", "5"),
      ...["0x12", `${RECEIPT.wallet}00`].map((value) => withField("wallet", value)),
      ...[-1, 1.5, "1", 2 ** 53].map((value) => withField("chainId", value)),
      ...["https://data.example/", "data.example", "https://Data.example"].map((value) => withField("origin", value)),
      ...["2026-13", "2026-1", "1999-01"].map((value) => withField("epoch", value)),
      ...["post", "POST ", "M".repeat(33)].map((value) => withField("method", value)),
      ...["v1", "/a b", "/a#b", "/\\", "/é", `/${"a".repeat(2048)}`].map((value) => withField("target", value)),
      ...["1e3", "01", "-1", 5, "18446744073709551616"].flatMap((value) => [
        withField("charge", value),
        withField("change", value),
        withField("units", { input: value }),
      ]),
      ...[{ input: "0" }, { Input: "1" }, { constructor: "1" }, []].map((value) => withField("units", value)),
    ].filter((value) => JSON.stringify(value) !== text && !isEmptyUnits(value));
    for (const value of wrong) expectCode("INVALID_ARGUMENT", () => parseReceipt(JSON.stringify(value)));
    for (const value of [
      ...[undefined, null, 5, JSON.parse(text), "", "{", `${text}x`, `${text}${" ".repeat(MAX_RECEIPT_LENGTH)}`],
      ...[text.replace('"charge"', '"charge":"1","charge"'), text.replace("{", '{"__proto__":{},')],
    ])
      expectCode("INVALID_ARGUMENT", () => parseReceipt(value));
  });

  it("is refused if the caller passes malformed values", () => {
    for (const wrong of [null, undefined, {}, 5, { ...RECEIPT, charge: 5 }, { ...RECEIPT, units: null }])
      for (const act of [receiptMessage, (value: ChargeReceipt) => signReceipt(value, RECEIPT_SECRETS[0])])
        expectCode("INVALID_ARGUMENT", () => act(wrong as ChargeReceipt));
    for (const wrong of [null, undefined, "9".repeat(32), new Uint8Array(31), new Uint8Array(64)])
      expectCode("INVALID_KEY", () => signReceipt(RECEIPT, wrong as never), /^a receipt secret must be 32 bytes$/);
    for (const wrong of [null, "", "0x", `${receiptKey}00`])
      expectCode("INVALID_HEX", () => verifyReceipt(signed, wrong as string));
    expectCode("INVALID_ARGUMENT", () => verifyReceipt(null as never, receiptKey));
    expectCode("INVALID_HEX", () => formatReceipt({ ...signed, signature: "0x" }));
  });

  it("never fails without a code on any JSON", () => {
    const json = JSON.parse(text);
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...Object.keys(json.receipt)), (value, name) => {
        for (const each of [value, { ...json, receipt: { ...json.receipt, [name]: value } }])
          try {
            parseReceipt(JSON.stringify(each));
          } catch (error) {
            expect(error).to.be.instanceOf(SottoError);
          }
      }),
      { numRuns: fuzzSize(300, 5_000) },
    );
  });
});

/** A request that used nothing has no counts, which is valid. */
function isEmptyUnits(value: unknown): boolean {
  const units = (value as { receipt?: { units?: unknown } } | null)?.receipt?.units;
  return JSON.stringify(units) === "{}";
}
