import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { evaluatePolynomial } from "../src/field.ts";
import {
  DOMAIN,
  FIELD_MODULUS,
  poseidon,
  signalsDigest,
  withdrawalArgument,
  withdrawalPublicSignals,
  withdrawalStatementHash,
} from "../src/index.ts";
import { keccakToField } from "../src/keccak.ts";

const SIGNALS = Array.from({ length: 13 }, (_, i) => BigInt(i) + 100n);

describe("the public signals of a withdrawal", () => {
  it("are the hash of signals 1 to 11, the challenge, and the evaluation", () => {
    const [hash, challenge, evaluation] = withdrawalPublicSignals(SIGNALS);
    expect(hash).to.equal(poseidon(SIGNALS.slice(1, 12), DOMAIN.withdrawal));
    expect(hash).to.equal(withdrawalStatementHash(SIGNALS));
    expect(challenge).to.equal(keccakToField([hash, BigInt(signalsDigest(SIGNALS))]));
    expect(evaluation).to.equal(evaluatePolynomial(SIGNALS.slice(1, 12), challenge));
  });

  it("change with every signal, and with the order of the nullifiers", () => {
    const [hash, challenge, evaluation] = withdrawalPublicSignals(SIGNALS);
    for (const [i, signal] of SIGNALS.entries()) {
      const other = withdrawalPublicSignals(SIGNALS.with(i, signal + 1n));
      // Context and change hint are in the challenge only.
      expect(other[0] === hash, `signal ${i}`).to.equal(i === 0 || i === 12);
      expect([other[1] === challenge, other[2] === evaluation], `signal ${i}`).to.deep.equal([false, false]);
    }
    const swapped = withdrawalPublicSignals(SIGNALS.with(3, SIGNALS[4]!).with(4, SIGNALS[3]!));
    expect(swapped.some((word) => [hash, challenge, evaluation].includes(word))).to.equal(false);
  });

  it("are refused for another number of signals, and for signals that are not canonical", () => {
    for (const compute of [withdrawalPublicSignals, withdrawalStatementHash]) {
      for (const signals of [SIGNALS.slice(1), [...SIGNALS, 1n], undefined])
        expectCode("INVALID_ARGUMENT", () => compute(signals as never), /13/);
      for (const i of SIGNALS.keys())
        expectCode("INVALID_FIELD_ELEMENT", () => compute(SIGNALS.with(i, FIELD_MODULUS)), new RegExp(`\\[${i}\\]`));
    }
  });

  it("give the argument of the contract's withdraw its hash", () => {
    const call = {
      proof: [],
      signals: SIGNALS.map(String),
      recipient: "0x01",
      fee: "1",
      feeRecipient: "0x02",
      validUntil: "3",
    };
    expect(withdrawalArgument(call)).to.deep.equal({
      ...call,
      statementHash: String(withdrawalStatementHash(SIGNALS)),
    });
    const signals = call.signals.with(5, "x");
    expectCode("INVALID_FIELD_ELEMENT", () => withdrawalArgument({ ...call, signals }), /\[5\]/);
    expectCode("INVALID_ARGUMENT", () => withdrawalArgument({ ...call, signals: ["1"] }), /13/);
    expectCode("INVALID_ARGUMENT", () => withdrawalArgument(undefined as never), /withdrawal/);
  });
});
