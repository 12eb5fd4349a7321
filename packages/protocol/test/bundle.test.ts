import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { getAddress } from "ethers";
import fc from "fast-check";
import {
  assertSameCiphertext,
  BASE_FIELD_MODULUS,
  decodeBundle,
  deriveKeys,
  encodeBundle,
  encryptAmount,
  FIELD_MODULUS,
  hiddenCipherX,
  MAX_AMOUNT,
  MAX_URL_LENGTH,
  type PaymentBundle,
  packCiphertext,
  type SottoError,
  type WireBundle,
} from "../src/index.ts";
import { runs } from "./support/arbitraries.ts";
import { DEPLOYMENT } from "./support/deployment.ts";

const { encryptionKey } = deriveKeys(new Uint8Array(32).fill(4), DEPLOYMENT);
const { R, C } = encryptAmount(encryptionKey, 5n, 6n);
const proof = [1n, 2n, 3n, 4n, 5n, 6n, 7n, BASE_FIELD_MODULUS - 1n];
const bundle: PaymentBundle = {
  proof,
  publicSignals: [11n, 12n, R.x, hiddenCipherX(C.x, 21n), 15n, 16n, 17n, 18n, 19n, FIELD_MODULUS - 1n],
  encryptedAmount: { R, C },
  amountProof: proof,
  amountPublicSignals: [R.x, C.x, 23n, 24n, 5n, 6n],
  senderCommitment: 21n,
  recipientPublicKey: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
  resourceUrl: "https://data.example/a?b=c#d",
  timestamp: 1_795_243_853_123,
};
const wire = encodeBundle(bundle);

/** The wire form with one change. */
function changed(change: (copy: Record<string, unknown>) => void): Record<string, unknown> {
  const copy = structuredClone(wire) as unknown as Record<string, unknown>;
  change(copy);
  return copy;
}

const refused = (change: (copy: Record<string, unknown>) => void, reason: RegExp) =>
  expectCode("INVALID_BUNDLE", () => decodeBundle(changed(change)), reason);

describe("the payment bundle", () => {
  it("survives a JSON round trip", () => {
    expect(decodeBundle(JSON.parse(JSON.stringify(wire)))).to.deep.equal(bundle);
    expect(wire.encryptedAmount).to.equal(packCiphertext({ R, C }));
    expect(wire.proof[7]).to.equal((BASE_FIELD_MODULUS - 1n).toString());
  });

  it("is accepted at every limit", () => {
    const longest = { ...wire, resourceUrl: "x".repeat(MAX_URL_LENGTH) };
    expect(decodeBundle(longest).resourceUrl).to.have.length(MAX_URL_LENGTH);
    const exact = { ...bundle, amountPublicSignals: [R.x, C.x, 0n, 0n, MAX_AMOUNT, MAX_AMOUNT] };
    expect(decodeBundle(encodeBundle(exact))).to.deep.equal(exact);
  });

  it("is rejected with a single reason", () => {
    const error = refused((copy) => (copy["proof"] = []), /^proof must be an array of 8, got an array of 0$/);
    expect(error.cause).to.equal(undefined);
    const inner = refused(
      (copy) => (copy["timestamp"] = -1),
      /^not a payment bundle: timestamp must be an integer from 0/,
    );
    expect((inner.cause as SottoError).code).to.equal("INVALID_INTEGER");
  });

  it("ignores extra fields, such as the proof header's token and transaction", () => {
    const decoded = decodeBundle({ ...wire, paymentToken: "a.b.c", txSignature: "0x12" });
    expect(decoded).to.deep.equal(bundle);
  });

  it("is rejected if any field is missing, and the error names the field", () => {
    for (const field of Object.keys(wire)) {
      refused((copy) => delete copy[field], new RegExp(field));
      refused((copy) => {
        copy[field] = null;
      }, new RegExp(field));
    }
    for (const value of [null, undefined, [], "x", 5])
      expectCode("INVALID_BUNDLE", () => decodeBundle(value), /object/);
  });

  it("is rejected with arrays of the wrong size or non-canonical numbers", () => {
    const lists = { proof: 8, publicSignals: 10, amountProof: 8, amountPublicSignals: 6 };
    for (const [field, size] of Object.entries(lists)) {
      const list = wire[field as keyof WireBundle] as readonly string[];
      const replace = (value: unknown) => (copy: Record<string, unknown>) => {
        copy[field] = value;
      };
      refused(replace(list.slice(1)), new RegExp(`${field} must be an array of ${size}`));
      refused(replace([...list, "1"]), new RegExp(`${field} must be an array of ${size}`));
      refused(replace(Object.fromEntries(list.entries())), new RegExp(field));
      for (const word of ["01", "-1", "0x1", "", " 1", 1, null, "1e1", BASE_FIELD_MODULUS.toString()]) {
        refused(replace([...list.slice(0, -1), word]), new RegExp(`${field}\\[${size - 1}\\]`));
      }
    }
    const alias = FIELD_MODULUS.toString();
    refused((copy) => ((copy["publicSignals"] as string[])[6] = alias), /publicSignals\[6\]/);
    refused((copy) => (copy["senderCommitment"] = alias), /senderCommitment/);
  });

  it("is rejected if its parts contain different ciphertexts", () => {
    const differs = (change: (copy: Record<string, unknown>) => void, reason: RegExp) =>
      expectCode("CIPHERTEXT_MISMATCH", () => assertSameCiphertext(decodeBundle(changed(change))), reason);
    assertSameCiphertext(decodeBundle(wire));
    differs((copy) => ((copy["publicSignals"] as string[])[2] = "1"), /ciphertext of publicSignals/);
    differs((copy) => ((copy["publicSignals"] as string[])[3] = C.x.toString()), /ciphertext of publicSignals/);
    differs((copy) => (copy["senderCommitment"] = "22"), /ciphertext of publicSignals/);
    differs((copy) => ((copy["amountPublicSignals"] as string[])[0] = "1"), /ciphertext of amountPublicSignals/);
    differs((copy) => ((copy["amountPublicSignals"] as string[])[1] = "1"), /ciphertext of amountPublicSignals/);
  });

  it("is rejected with a ciphertext that is not two points", () => {
    refused((copy) => (copy["encryptedAmount"] = `0x${"00".repeat(64)}`), /no point|subgroup/);
    refused((copy) => (copy["encryptedAmount"] = wire.encryptedAmount.toUpperCase()), /lower-case/);
  });

  it("is rejected with bounds that are not amounts or are in the wrong order", () => {
    refused((copy) => ((copy["amountPublicSignals"] as string[])[5] = (1n << 64n).toString()), /upper bound/);
    refused((copy) => ((copy["amountPublicSignals"] as string[])[4] = "7"), /\[4\] \(the lower bound\) is above/);
  });

  it("accepts any spelling of the recipient's address", () => {
    for (const spelling of [getAddress(wire.recipientPublicKey), `0x${wire.recipientPublicKey.slice(2).toUpperCase()}`])
      expect(decodeBundle({ ...wire, recipientPublicKey: spelling })).to.deep.equal(decodeBundle(wire));
  });

  it("is rejected with a malformed address, URL or timestamp", () => {
    refused((copy) => (copy["recipientPublicKey"] = "0x70997970C51812dc3A010C7d01b50e0d17dc79c8"), /checksum/);
    refused((copy) => (copy["recipientPublicKey"] = "0x12"), /20 bytes/);
    refused((copy) => (copy["resourceUrl"] = ""), /resourceUrl/);
    refused((copy) => (copy["resourceUrl"] = `https://${"a".repeat(MAX_URL_LENGTH)}`), /at most 2048/);
    refused((copy) => (copy["resourceUrl"] = "\udc00"), /surrogate/);
    for (const time of [1.5, -1, "1", Number.MAX_SAFE_INTEGER])
      refused((copy) => (copy["timestamp"] = time), /timestamp/);
  });

  it("throws only INVALID_BUNDLE for any JSON", () => {
    const fields = fc.record(Object.fromEntries(Object.keys(wire).map((field) => [field, fc.jsonValue()])));
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fields), (value) => {
        expectCode("INVALID_BUNDLE", () => decodeBundle(value));
      }),
      runs(200),
    );
  });

  it("is not encoded from invalid values", () => {
    const encode = (change: Partial<PaymentBundle>) => () => encodeBundle({ ...bundle, ...change });
    expectCode("INVALID_BUNDLE", encode({ proof: proof.slice(1) }));
    expectCode("INVALID_BUNDLE", encode({ proof: [...proof.slice(1), BASE_FIELD_MODULUS] }));
    expectCode("INVALID_BUNDLE", encode({ timestamp: 1.5 }));
    expectCode("INVALID_BUNDLE", encode({ publicSignals: [FIELD_MODULUS, ...bundle.publicSignals.slice(1)] }));
    expectCode("CIPHERTEXT_MISMATCH", encode({ encryptedAmount: { R: C, C: R } }));
    expectCode("INVALID_ADDRESS", encode({ recipientPublicKey: "0x12" }));
    expectCode("INVALID_BUNDLE", () => encodeBundle(undefined as never));
    expectCode("INVALID_FIELD_ELEMENT", () => encodeBundle({ ...bundle, encryptedAmount: undefined as never }));
    for (const field of ["proof", "publicSignals", "amountProof", "amountPublicSignals", "senderCommitment"]) {
      expectCode("INVALID_BUNDLE", () => encodeBundle({ ...bundle, [field]: undefined }), new RegExp(field));
    }
  });
});
