import { expect } from "chai";
import {
  type Bytes32,
  decryptChange,
  depositAuthorizationNonce,
  depositBlinding,
  deriveKeys,
  foldQueue,
  NoteTree,
  noteCommitment,
  type Point,
  paymentSignals,
  prepareAppend,
  prepareOrigin,
  preparePayment,
  prepareRange,
  prepareWithdrawal,
  signalsDigest,
  tryDecrypt,
  withdrawalPadContext,
  withdrawalSignals,
} from "../src/index.ts";
import { maskTree } from "./support/mask-tree.ts";
import { vectors } from "./support/vectors.ts";

interface Vectors {
  deployment: { chainId: bigint; pool: string };
  leaves: bigint[];
  spent: { leafIndex: number; amount: bigint; blinding: bigint; commitment: bigint };
  payment: {
    wallet: string;
    amount: bigint;
    scalar: bigint;
    resourceUrl: string;
    timestamp: number;
    senderNonce: bigint;
    senderCommitment: bigint;
    validUntil: bigint;
    resourceDigest: Bytes32;
  };
  encryptedAmount: string;
  shared: Point;
  publicSignals: bigint[];
  digest: Bytes32;
  range: bigint[];
  append: bigint[];
  withdrawal: {
    terms: { recipient: string; fee: bigint; feeRecipient: string; validUntil: bigint };
    amount: bigint;
    signals: bigint[];
    publicSignals: bigint[];
    digest: Bytes32;
  };
  mask: bigint[];
  origin: bigint[];
  authorization: { ownerTags: bigint[]; amounts: bigint[]; salt: Bytes32; nonce: Bytes32 };
  queueChain: Bytes32;
}

describe("a payment from deposit to withdrawal, against the oracle's known answers", () => {
  const known = vectors<Vectors>("payment");
  const { deployment } = known;
  const payer = deriveKeys(
    Uint8Array.from({ length: 32 }, (_, i) => i),
    deployment,
  );
  const merchant = deriveKeys(
    Uint8Array.from({ length: 32 }, (_, i) => 255 - i),
    deployment,
  );
  const tree = new NoteTree(known.leaves);
  const { leafIndex, amount, blinding } = known.spent;
  const note = { leafIndex, amount, blinding, spendingKey: payer.spendingKey(1) };
  const address = { encryptionKey: merchant.encryptionKey, ownerTag: merchant.ownerTag(0) };
  const paid = preparePayment({
    ...deployment,
    tree,
    note,
    changeKey: payer.changeKey,
    nonceKey: payer.nonceKey,
    changeTag: payer.ownerTag(0),
    recipient: { ...address, wallet: known.payment.wallet },
    amount: known.payment.amount,
    resourceUrl: known.payment.resourceUrl,
    timestamp: known.payment.timestamp,
    scalar: known.payment.scalar,
  });

  it("deposits the note with the contract's blinding", () => {
    expect(depositBlinding(deployment, leafIndex)).to.equal(blinding);
    const commitment = noteCommitment({ amount, ownerTag: payer.ownerTag(1), blinding });
    expect(commitment).to.equal(known.spent.commitment);
    const { ownerTags, amounts, salt, nonce } = known.authorization;
    expect(depositAuthorizationNonce({ ownerTags, amounts }, salt)).to.equal(nonce);
  });

  it("prepares the payment's public signals and all of its off-chain values", () => {
    expect(paid.publicSignals).to.deep.equal(known.publicSignals);
    expect(paid.encryptedAmount).to.equal(known.encryptedAmount);
    expect(paid.digest).to.equal(known.digest);
    expect(paid.resourceDigest).to.equal(known.payment.resourceDigest);
    expect(paid.validUntil).to.equal(known.payment.validUntil);
    expect(paid.senderNonce).to.equal(known.payment.senderNonce);
    expect(paid.senderCommitment).to.equal(known.payment.senderCommitment);
    expect(paid.nullifier).to.equal(paymentSignals(known.publicSignals).nullifier);
  });

  it("prepares the range proof's signals for the same ciphertext", () => {
    const [lowerBound, upperBound] = [known.range[4]!, known.range[5]!];
    const { amount: price, scalar } = known.payment;
    const range = prepareRange({ recipient: address, amount: price, scalar, lowerBound, upperBound });
    expect(range.publicSignals).to.deep.equal(known.range);
  });

  it("prepares the signals of the spent note's origin in a set of some of the leaves", () => {
    const set = Object.fromEntries(known.mask.flatMap((leaf, i) => (leaf === 0n ? [] : [[i, leaf]])));
    const { publicSignals } = prepareOrigin({ note, ...maskTree(set, leafIndex) });
    expect(publicSignals).to.deep.equal(known.origin);
    expect(publicSignals[1]).to.equal(paid.nullifier);
  });

  it("lets the recipient read its note, and the payer its change, from the event", () => {
    const signals = paymentSignals(known.publicSignals);
    const viewer = { viewingKeys: [merchant.viewingKey], ownerTag: merchant.ownerTag(0) };
    expect(tryDecrypt(viewer, signals)).to.deep.equal({ ...paid.recipientNote, key: 0 });
    expect(paid.recipientNote.amount).to.equal(known.payment.amount);
    const reader = { changeKey: payer.changeKey, ownerTag: payer.ownerTag(0) };
    const delivered = { ...signals, unique: signals.ephemeralX };
    expect(decryptChange(reader, delivered)).to.deep.equal(paid.changeNote);
    expect(paid.changeNote.amount).to.equal(amount - known.payment.amount);
  });

  it("queues both notes and appends them", () => {
    const { recipientCommitment, changeCommitment } = paymentSignals(known.publicSignals);
    const leaves = [recipientCommitment, changeCommitment];
    expect(foldQueue(`0x${"00".repeat(32)}`, leaves[0]!)).to.equal(known.queueChain);
    const appended = prepareAppend({ ...deployment, tree, leaves });
    expect(appended.publicSignals).to.deep.equal(known.append);
    expect(tree.root).to.equal(appended.oldRoot);
  });

  it("withdraws from the change note", () => {
    const { recipientCommitment, changeCommitment } = paymentSignals(known.publicSignals);
    const grown = new NoteTree([...known.leaves, recipientCommitment, changeCommitment]);
    const { terms } = known.withdrawal;
    const change = { ...paid.changeNote, spendingKey: payer.spendingKey(0), leafIndex: known.leaves.length + 1 };
    const withdrawn = prepareWithdrawal({
      ...deployment,
      ...terms,
      tree: grown,
      notes: [change],
      amount: known.withdrawal.amount,
      changeKey: payer.changeKey,
      outputTag: payer.ownerTag(0),
    });
    expect(withdrawn.publicSignals).to.deep.equal(known.withdrawal.publicSignals);
    expect(withdrawn.digest).to.equal(known.withdrawal.digest);
    expect(withdrawn.signals).to.deep.equal(known.withdrawal.signals);
    expect(signalsDigest(withdrawn.signals)).to.equal(known.withdrawal.digest);
    const reader = { changeKey: payer.changeKey, ownerTag: payer.ownerTag(0) };
    const { context, amount: taken, nullifiers, commitment, changeHint } = withdrawalSignals(withdrawn.signals);
    const delivered = {
      nullifier: nullifiers[0]!,
      unique: withdrawalPadContext(context, taken, nullifiers),
      changeHint,
      changeCommitment: commitment,
    };
    expect(decryptChange(reader, delivered)).to.deep.equal(withdrawn.outputNote);
  });
});
