import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import {
  BASE8,
  deriveKeys,
  FIELD_MODULUS,
  hashNode,
  NoteTree,
  noteCommitment,
  type PaymentArguments,
  paymentContext,
  preparePayment,
  prepareRange,
  prepareWithdrawal,
  type WithdrawalArguments,
  withdrawalSignals,
  withResource,
} from "../src/index.ts";

const deployment = { chainId: 31337n, pool: "0x5fbdb2315678afecb367f032d93f642f64180aa3" };
const payer = deriveKeys(new Uint8Array(32).fill(1), deployment);
const merchant = deriveKeys(new Uint8Array(32).fill(2), deployment);
const wallet = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const recipient = { encryptionKey: merchant.encryptionKey, ownerTag: merchant.ownerTag(0) };

const tree = new NoteTree();
const notes = Array.from({ length: 9 }, (_, index) => {
  const note = {
    amount: 100n + BigInt(index),
    blinding: BigInt(index),
    spendingKey: payer.spendingKey(index),
    leafIndex: index,
  };
  tree.append(noteCommitment({ ...note, ownerTag: payer.ownerTag(index) }));
  return note;
});

const payment: PaymentArguments = {
  ...deployment,
  tree,
  note: notes[3]!,
  changeKey: payer.changeKey,
  nonceKey: payer.nonceKey,
  changeTag: payer.ownerTag(0),
  recipient: { ...recipient, wallet },
  amount: 40n,
  resourceUrl: "https://data.example/",
  timestamp: 1_795_243_853_123,
};

const withdrawal: WithdrawalArguments = {
  ...deployment,
  tree,
  notes: notes.slice(0, 8),
  amount: 500n,
  recipient: wallet,
  fee: 5n,
  feeRecipient: wallet,
  validUntil: 1_795_250_000n,
  changeKey: payer.changeKey,
  outputTag: payer.ownerTag(0),
};

describe("preparePayment", () => {
  it("draws a fresh scalar for each attempt, which changes every signal but the root and the nullifier", () => {
    const [first, second] = [preparePayment(payment), preparePayment(payment)];
    expect(first.scalar).to.not.equal(second.scalar);
    const differs = first.publicSignals.map((signal, i) => signal !== second.publicSignals[i]);
    const [root, nullifier] = [5, 6];
    expect(differs.map((different, i) => different || i === root || i === nullifier)).to.not.include(false);
    expect([differs[root], differs[nullifier]]).to.deep.equal([false, false]);
    expect(first.senderNonce).to.not.equal(second.senderNonce);
  });

  it("can spend a note completely, and can pay 0", () => {
    expect(preparePayment({ ...payment, amount: 103n }).changeNote.amount).to.equal(0n);
    expect(preparePayment({ ...payment, amount: 0n }).changeNote.amount).to.equal(103n);
  });

  it("gives the same statement when another resource and time are set later", () => {
    const known = preparePayment({ ...payment, scalar: 12_345n });
    const early = preparePayment({ ...payment, scalar: 12_345n, resourceUrl: "about:blank", timestamp: 0 });
    expect(early.publicSignals[1]).to.not.equal(known.publicSignals[1]);
    expect(withResource(early, payment)).to.deep.equal(known);
    const { validUntil, resourceDigest } = known;
    expect(known.input.resourceUrl).to.equal(paymentContext({ ...deployment, validUntil, resourceDigest }));
    const others = early.publicSignals.map((signal, i) => signal === known.publicSignals[i]);
    expect(others).to.deep.equal([true, false, ...Array.from({ length: 8 }, () => true)]);
  });

  it("reports the missing amount", () => {
    const error = expectCode(
      "INSUFFICIENT_NOTES",
      () => preparePayment({ ...payment, amount: 104n }),
      /1 fewer than the 104/,
    );
    expect(error.details).to.deep.equal({ missing: "1", needed: "104" });
  });

  it("rejects a note that is not in the tree at its index", () => {
    const refused = (change: object) => () => preparePayment({ ...payment, note: { ...notes[3]!, ...change } });
    expectCode("NOTE_NOT_IN_TREE", refused({ amount: 104n }), /leaf 3/);
    expectCode("NOTE_NOT_IN_TREE", refused({ blinding: 4n }));
    expectCode("NOTE_NOT_IN_TREE", refused({ spendingKey: 4n }));
    expectCode("NOTE_NOT_IN_TREE", refused({ leafIndex: 4 }), /leaf 4/);
    expectCode("LEAF_NOT_FOUND", refused({ leafIndex: 9 }));
  });

  it("rejects malformed arguments", () => {
    const refused = (change: object) => () => preparePayment({ ...payment, ...change });
    for (const amount of [-1n, 1n << 64n, 1.5, "1"]) expectCode("INVALID_AMOUNT", refused({ amount }));
    expectCode("INVALID_ADDRESS", refused({ recipient: { ...recipient, wallet: "0x12" } }), /recipient.wallet/);
    const twin = { x: BASE8.x, y: FIELD_MODULUS - BASE8.y };
    expectCode("INVALID_POINT", refused({ recipient: { ...payment.recipient, encryptionKey: twin } }));
    expectCode("INVALID_FIELD_ELEMENT", refused({ recipient: { ...payment.recipient, ownerTag: FIELD_MODULUS } }));
    expectCode("INVALID_FIELD_ELEMENT", refused({ changeKey: FIELD_MODULUS }), /changeKey/);
    expectCode("INVALID_FIELD_ELEMENT", refused({ changeTag: -1n }));
    expectCode("INVALID_KEY", refused({ nonceKey: new Uint8Array(5) }), /nonceKey/);
    expectCode("INVALID_STRING", refused({ resourceUrl: "" }), /resourceUrl/);
    expectCode("INVALID_INTEGER", refused({ timestamp: 1.5 }), /timestamp/);
    expectCode("INVALID_SCALAR", refused({ scalar: 1n << 249n }));
    expectCode("INVALID_ADDRESS", refused({ pool: "0x" }), /pool/);
    expectCode("INVALID_INTEGER", refused({ chainId: 1 }), /chainId/);
    expectCode("INVALID_ARGUMENT", refused({ tree: {} }), /NoteTree/);
    expectCode("INVALID_ARGUMENT", refused({ note: null }), /note/);
    expectCode("INVALID_ARGUMENT", refused({ recipient: undefined }), /recipient/);
  });
});

describe("prepareRange", () => {
  const range = { recipient, amount: 10n, scalar: 5n, lowerBound: 10n, upperBound: 11n };

  it("includes both bounds", () => {
    expect(prepareRange(range).publicSignals).to.have.length(6);
    expect(prepareRange({ ...range, amount: 11n }).publicSignals.slice(4)).to.deep.equal([10n, 11n]);
  });

  it("rejects an amount outside the bounds, and malformed arguments", () => {
    expectCode("AMOUNT_OUT_OF_BOUNDS", () => prepareRange({ ...range, amount: 9n }));
    expectCode("AMOUNT_OUT_OF_BOUNDS", () => prepareRange({ ...range, amount: 12n }));
    expectCode("INVALID_AMOUNT", () => prepareRange({ ...range, upperBound: 1n << 64n }), /upperBound/);
    expectCode("INVALID_AMOUNT", () => prepareRange({ ...range, lowerBound: -1n }), /lowerBound/);
    expectCode("INVALID_SCALAR", () => prepareRange({ ...range, scalar: -1n }));
    expectCode("INVALID_FIELD_ELEMENT", () => prepareRange({ ...range, recipient: { ...recipient, ownerTag: -1n } }));
  });
});

describe("prepareWithdrawal", () => {
  it("merges 1 to 8 notes; unused inputs have nullifier 0 and a consistent path", () => {
    for (const count of [1, 3, 8]) {
      const spent = notes.slice(0, count);
      const total = spent.reduce((sum, note) => sum + note.amount, 0n);
      const prepared = prepareWithdrawal({ ...withdrawal, notes: spent, amount: 5n });
      expect(prepared.outputNote.amount).to.equal(total - 5n);
      expect(prepared.nullifiers).to.have.length(count);
      expect(new Set(prepared.nullifiers).size).to.equal(count);
      const expectedFlags = Array.from({ length: 8 }, (_, i) => (i < count ? 1n : 0n));
      expect(prepared.input.enabled).to.deep.equal(expectedFlags);
      const nullifiers = withdrawalSignals(prepared.signals).nullifiers;
      expect(nullifiers).to.deep.equal([...prepared.nullifiers, ...new Array<bigint>(8 - count).fill(0n)]);
      const paths = prepared.input["pathChildren"] as readonly (readonly (readonly bigint[])[])[];
      for (const path of paths.slice(count)) {
        for (let level = 1; level < path.length; level++) expect(path[level]![0]).to.equal(hashNode(path[level - 1]!));
      }
    }
  });

  it("accepts only the whole amount with `leaveNothing`, and leaves no note", () => {
    const exit = { ...withdrawal, notes: notes.slice(0, 2), leaveNothing: true };
    const { signals, outputNote } = prepareWithdrawal({ ...exit, amount: 201n });
    expect(signals.at(-1)).to.equal(0n);
    expect(outputNote.amount).to.equal(0n);
    const error = expectCode(
      "INVALID_AMOUNT",
      () => prepareWithdrawal({ ...exit, amount: 200n }),
      /amount must be the whole amount/,
    );
    expect(error.details).to.deep.equal({ left: "1" });
  });

  it("withdraws everything, and leaves a note of amount 0", () => {
    const prepared = prepareWithdrawal({ ...withdrawal, notes: notes.slice(0, 2), amount: 201n });
    expect(prepared.outputNote.amount).to.equal(0n);
    const { signals } = prepareWithdrawal({ ...withdrawal, amount: 5n });
    expect(withdrawalSignals(signals).amount).to.equal(withdrawal.fee);
  });

  it("never uses a pad for two outputs", () => {
    // Two devices with the same seed: the same first note, time and terms, but a different amount or different notes.
    const padOf = (change: Partial<WithdrawalArguments>) => {
      const { publicSignals, outputNote } = prepareWithdrawal({ ...withdrawal, ...change });
      return (publicSignals.at(-1)! - outputNote.amount + FIELD_MODULUS) % FIELD_MODULUS;
    };
    const pads = [
      padOf({}),
      padOf({ amount: 501n }),
      padOf({ notes: notes.slice(0, 7) }),
      padOf({ notes: [...notes.slice(0, 7), notes[8]!] }),
    ];
    expect(new Set(pads).size).to.equal(pads.length);
    expect(padOf({})).to.equal(pads[0]);
  });

  it("reports the missing amount", () => {
    const tooMuch = () => prepareWithdrawal({ ...withdrawal, notes: notes.slice(0, 2), amount: 300n });
    expect(expectCode("INSUFFICIENT_NOTES", tooMuch).details["missing"]).to.equal("99");
  });

  it("rejects zero notes, nine notes, and the same note twice", () => {
    const refused = (spent: unknown) => () => prepareWithdrawal({ ...withdrawal, notes: spent as never });
    expectCode("INVALID_WITHDRAWAL_INPUTS", refused([]), /1 to 8/);
    expectCode("INVALID_WITHDRAWAL_INPUTS", refused(notes), /1 to 8/);
    expectCode("INVALID_WITHDRAWAL_INPUTS", refused(undefined), /1 to 8/);
    expectCode("INVALID_WITHDRAWAL_INPUTS", refused([notes[1], notes[1]]), /twice/);
    expectCode("NOTE_NOT_IN_TREE", refused([{ ...notes[1]!, leafIndex: 2 }]));
  });

  it("rejects a fee above the amount, an output above 64 bits, and malformed terms", () => {
    const refused = (change: object) => () => prepareWithdrawal({ ...withdrawal, ...change });
    expectCode("INVALID_AMOUNT", refused({ amount: 4n }), /fee/);
    const huge = [0, 1].map((leafIndex) => ({ amount: (1n << 64n) - 1n, blinding: 1n, spendingKey: 1n, leafIndex }));
    const rich = new NoteTree(huge.map((note) => noteCommitment({ ...note, ownerTag: payer.ownerTag(0) })));
    const owned = huge.map((note) => ({ ...note, spendingKey: payer.spendingKey(0) }));
    expectCode("INVALID_AMOUNT", refused({ tree: rich, notes: owned, amount: 5n }), /left over/);
    expectCode("INVALID_ADDRESS", refused({ recipient: "0x" }), /recipient/);
    expectCode("INVALID_INTEGER", refused({ validUntil: -1n }), /validUntil/);
    expectCode("INVALID_FIELD_ELEMENT", refused({ outputTag: FIELD_MODULUS }));
    expectCode("INVALID_FIELD_ELEMENT", refused({ changeKey: -1n }));
  });
});
