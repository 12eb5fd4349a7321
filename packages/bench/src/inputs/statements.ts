import {
  amountBounds,
  type CircuitInput,
  type CircuitName,
  deriveKeys,
  NoteTree,
  noteCommitment,
  prepareAppend,
  prepareOrigin,
  preparePayment,
  prepareRange,
  prepareWithdrawal,
  randomField,
  randomSeed,
} from "@sotto/protocol";

const WALLET = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const DEPLOYMENT = { chainId: 31337n, pool: "0x5fbdb2315678afecb367f032d93f642f64180aa3" };
const NOTES = 100;

/** Inputs of all circuits by name: a payment of 1.25 from a tree of 100 notes, and matching inputs of the others. */
export function benchInputs(): Record<CircuitName, CircuitInput> {
  const payer = deriveKeys(randomSeed(), DEPLOYMENT);
  const merchant = deriveKeys(randomSeed(), DEPLOYMENT);
  const notes = Array.from({ length: NOTES }, (_, leafIndex) => {
    const [amount, blinding] = [BigInt(leafIndex + 2) * 1_000_000n, randomField()];
    const commitment = noteCommitment({ amount, ownerTag: payer.ownerTag(0), blinding });
    return { leafIndex, amount, blinding, spendingKey: payer.spendingKey(0), commitment };
  });
  const tree = new NoteTree(notes.map(({ commitment }) => commitment));
  const recipient = { encryptionKey: merchant.encryptionKey, ownerTag: merchant.ownerTag(0), wallet: WALLET };
  const amount = 1_250_000n;
  const note = notes[42]!;
  const payment = preparePayment({
    ...DEPLOYMENT,
    tree,
    note,
    changeKey: payer.changeKey,
    nonceKey: payer.nonceKey,
    changeTag: payer.ownerTag(0),
    recipient,
    amount,
    resourceUrl: "https://merchant.example/report",
    timestamp: Date.now(),
  });
  const withdrawal = prepareWithdrawal({
    ...DEPLOYMENT,
    tree,
    notes: notes.slice(0, 8),
    amount: 30_000_000n,
    changeKey: payer.changeKey,
    outputTag: payer.ownerTag(0),
    recipient: WALLET,
    fee: 10_000n,
    feeRecipient: WALLET,
    validUntil: payment.validUntil,
  });
  const leaves = Array.from({ length: 64 }, randomField);
  return {
    payment: payment.input,
    elgamal_range: prepareRange({ recipient, amount, scalar: payment.scalar, ...amountBounds(amount) }).input,
    withdrawal: withdrawal.input,
    note_append: prepareAppend({ ...DEPLOYMENT, tree, leaves }).input,
    origin: prepareOrigin({ note, path: tree.path(note.leafIndex), maskRoot: tree.root }).input,
  };
}
