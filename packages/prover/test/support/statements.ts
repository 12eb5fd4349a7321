/** True statements for all circuits, prepared by the protocol package. */
import {
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
} from "@sotto/protocol";

export interface Statement {
  readonly input: CircuitInput;
  readonly publicSignals: readonly bigint[];
}

const POOL = "0x5fbdb2315678afecb367f032d93f642f64180aa3";
const WALLET = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
/** Base units; every note holds at least this much. */
const PRICE = 1_000_000n;
const DEPLOYMENT = { chainId: 31337n, pool: POOL };

/** @param variant selects other keys, notes and amounts */
export function statements(variant = 0): Record<CircuitName, Statement> {
  const payer = deriveKeys(new Uint8Array(32).fill(2 * variant + 1), DEPLOYMENT);
  const merchant = deriveKeys(new Uint8Array(32).fill(2 * variant + 2), DEPLOYMENT);
  const notes = Array.from({ length: 9 }, (_, index) => {
    const [amount, blinding] = [BigInt(index + 1) * 1_000_000n, BigInt(index + 9 * variant) + 77n];
    const commitment = noteCommitment({ amount, ownerTag: payer.ownerTag(0), blinding });
    return { leafIndex: index, amount, blinding, spendingKey: payer.spendingKey(0), commitment };
  });
  const tree = new NoteTree(notes.map(({ commitment }) => commitment));
  const recipient = { encryptionKey: merchant.encryptionKey, ownerTag: merchant.ownerTag(0), wallet: WALLET };
  const note = notes[(variant + 4) % 8]!;
  const payment = preparePayment({
    ...DEPLOYMENT,
    tree,
    note,
    changeKey: payer.changeKey,
    nonceKey: payer.nonceKey,
    changeTag: payer.ownerTag(0),
    recipient,
    amount: PRICE,
    resourceUrl: `https://merchant.example/report/${variant}`,
    timestamp: 1_800_000_000_000,
  });
  return {
    payment,
    elgamal_range: prepareRange({
      recipient,
      amount: PRICE,
      scalar: payment.scalar,
      lowerBound: PRICE,
      upperBound: (PRICE * 11n) / 10n,
    }),
    withdrawal: prepareWithdrawal({
      ...DEPLOYMENT,
      tree,
      notes: notes.slice(0, 8),
      amount: 30_000_000n,
      changeKey: payer.changeKey,
      outputTag: payer.ownerTag(0),
      recipient: WALLET,
      fee: 10_000n,
      feeRecipient: WALLET,
      validUntil: 1_800_000_060n,
    }),
    note_append: prepareAppend({
      ...DEPLOYMENT,
      tree,
      leaves: Array.from({ length: 64 }, (_, index) => BigInt(index + 1)),
    }),
    // A curator that accepts every note of the pool: its mask tree is the pool's tree.
    origin: prepareOrigin({ note, path: tree.path(note.leafIndex), maskRoot: tree.root }),
  };
}
