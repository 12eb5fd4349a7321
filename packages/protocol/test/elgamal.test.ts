import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import {
  addPoints,
  BASE8,
  deriveKeys,
  encryptAmount,
  exponentOf,
  FIELD_MODULUS,
  hintOf,
  IDENTITY,
  MAX_AMOUNT,
  multiplyPoint,
  negatePoint,
  nonceOfReceiptKey,
  noteCommitment,
  nullifier,
  openHint,
  ownerTagOf,
  packCiphertext,
  randomScalar,
  receiptKeyOf,
  receiptSecret,
  recipientSignal,
  SUBGROUP_ORDER,
  senderNonce,
  signWithReceiptKey,
  TREE_CAPACITY,
  unpackCiphertext,
  verifyReceiptSignature,
} from "../src/index.ts";
import { amount, encryptionScalar, field, runs } from "./support/arbitraries.ts";
import { DEPLOYMENT } from "./support/deployment.ts";

const { encryptionKey, viewingKey } = deriveKeys(new Uint8Array(32).fill(3), DEPLOYMENT);

describe("ElGamal", () => {
  it("decrypts with the viewing key, for every amount and scalar", () => {
    fc.assert(
      fc.property(amount, encryptionScalar, (value, b) => {
        const { R, C, S } = encryptAmount(encryptionKey, value, b);
        expect(multiplyPoint(R, viewingKey)).to.deep.equal(S);
        expect(addPoints(C, negatePoint(S))).to.deep.equal(multiplyPoint(BASE8, value));
        expect(unpackCiphertext(packCiphertext({ R, C }))).to.deep.equal({ R, C });
      }),
      runs(8),
    );
  });

  it("is additively homomorphic", () => {
    const [first, second] = [encryptAmount(encryptionKey, 30n, 1n), encryptAmount(encryptionKey, 12n, 2n)];
    const R = addPoints(first.R, second.R);
    const C = addPoints(first.C, second.C);
    const message = addPoints(C, negatePoint(multiplyPoint(R, viewingKey)));
    expect(message).to.deep.equal(multiplyPoint(BASE8, 42n));
  });

  it("multiplies by r = 2 b + 2^249 + 1, always odd and below l", () => {
    expect(exponentOf(0n)).to.equal((1n << 249n) + 1n);
    expect(exponentOf((1n << 249n) - 1n)).to.equal(3n * (1n << 249n) - 1n);
    expect(3n * (1n << 249n) - 1n < SUBGROUP_ORDER).to.equal(true);
    const drawn = Array.from({ length: 30 }, randomScalar);
    expect(new Set(drawn).size).to.equal(30);
    expect(drawn.every((b) => exponentOf(b) < SUBGROUP_ORDER && exponentOf(b) % 2n === 1n)).to.equal(true);
  });

  it("rejects scalars beyond 249 bits, amounts beyond 64 bits and keys outside the subgroup", () => {
    for (const b of [-1n, 1n << 249n, 5, undefined]) {
      expectCode("INVALID_SCALAR", () => encryptAmount(encryptionKey, 1n, b as never));
    }
    for (const value of [-1n, MAX_AMOUNT + 1n, 5, undefined]) {
      expectCode("INVALID_AMOUNT", () => encryptAmount(encryptionKey, value as never, 1n));
    }
    for (const key of [IDENTITY, { x: BASE8.x, y: FIELD_MODULUS - BASE8.y }, { x: 0n, y: FIELD_MODULUS - 1n }]) {
      expectCode("INVALID_POINT", () => encryptAmount(key, 1n, 1n));
    }
  });

  it("rejects ciphertexts of the wrong size", () => {
    const packed = packCiphertext(encryptAmount(encryptionKey, 1n, 1n));
    for (const bad of [packed.slice(0, -2), `${packed}00`, packed.slice(2), undefined]) {
      expectCode("INVALID_HEX", () => unpackCiphertext(bad as never), /encryptedAmount/);
    }
    expectCode(
      "INVALID_POINT",
      () => unpackCiphertext(`${packed.slice(0, 66)}01${"00".repeat(31)}`),
      /^C must not be the identity/,
    );
  });
});

describe("hints", () => {
  it("hide an amount under a pad and open to it", () => {
    fc.assert(
      fc.property(field, amount, (pad, value) => {
        expect(openHint(hintOf(pad, value), pad)).to.equal(value);
      }),
      runs(50),
    );
  });
});

describe("notes", () => {
  it("have a different nullifier for each leaf index, key and commitment", () => {
    const all = [nullifier(1n, 2n, 3), nullifier(1n, 2n, 4), nullifier(1n, 3n, 3), nullifier(2n, 2n, 3)];
    expect(new Set(all).size).to.equal(4);
  });

  it("are rejected with any part out of range", () => {
    const note = { amount: 1n, ownerTag: 2n, blinding: 3n };
    expectCode("INVALID_AMOUNT", () => noteCommitment({ ...note, amount: MAX_AMOUNT + 1n }), /note.amount/);
    expectCode("INVALID_ARGUMENT", () => noteCommitment(undefined as never));
    expectCode("INVALID_FIELD_ELEMENT", () => noteCommitment({ ...note, ownerTag: FIELD_MODULUS }), /note.ownerTag/);
    expectCode("INVALID_FIELD_ELEMENT", () => noteCommitment({ ...note, blinding: -1n }), /note.blinding/);
    expectCode("INVALID_FIELD_ELEMENT", () => ownerTagOf(FIELD_MODULUS), /spendingKey/);
    expectCode("INVALID_FIELD_ELEMENT", () => nullifier(FIELD_MODULUS, 1n, 0), /spendingKey/);
    expectCode("INVALID_FIELD_ELEMENT", () => nullifier(1n, FIELD_MODULUS, 0), /commitment/);
    for (const index of [-1, TREE_CAPACITY, 0.5, 1n]) {
      expectCode("INVALID_INTEGER", () => nullifier(1n, 1n, index as never), /leafIndex/);
    }
  });

  it("have a nonce that is the hash of a key with which only the payer can sign", () => {
    const key = new Uint8Array(32).fill(7);
    const secret = receiptSecret(key, 1n, 2n);
    const receiptKey = receiptKeyOf(secret);
    expect(nonceOfReceiptKey(receiptKey)).to.equal(senderNonce(key, 1n, 2n));
    const message = Uint8Array.from([1, 2, 3]);
    const signature = signWithReceiptKey(message, secret);
    expect(verifyReceiptSignature(signature, message, receiptKey)).to.equal(true);
    expect(verifyReceiptSignature(signature, Uint8Array.from([1, 2, 4]), receiptKey)).to.equal(false);
    const another = receiptKeyOf(receiptSecret(key, 1n, 3n));
    expect(verifyReceiptSignature(signature, message, another)).to.equal(false);
    expect(verifyReceiptSignature(signature.slice(1), message, receiptKey)).to.equal(false);
    // Key and R are the neutral element and s = 0: without strict verification, this signature is valid for every
    // message.
    const small = new Uint8Array(32);
    small[0] = 1;
    const forged = new Uint8Array(64);
    forged[0] = 1;
    expect(verifyReceiptSignature(forged, message, small)).to.equal(false);
    expectCode("INVALID_KEY", () => receiptKeyOf(new Uint8Array(31)));
    expectCode("INVALID_KEY", () => nonceOfReceiptKey(new Uint8Array(33)));
  });

  it("reject an invalid part of a sender or a recipient", () => {
    const key = new Uint8Array(32);
    expect(senderNonce(key, 1n, 2n)).to.not.equal(senderNonce(key, 2n, 1n));
    expectCode("INVALID_KEY", () => senderNonce(new Uint8Array(31), 1n, 2n));
    expectCode("INVALID_FIELD_ELEMENT", () => senderNonce(key, FIELD_MODULUS, 2n));
    const recipient = { wallet: `0x${"11".repeat(20)}`, keyX: 1n, ownerTag: 2n };
    expectCode("INVALID_ADDRESS", () => recipientSignal({ ...recipient, wallet: "0x11" }, 3n));
    expectCode("INVALID_FIELD_ELEMENT", () => recipientSignal(recipient, FIELD_MODULUS));
  });
});
