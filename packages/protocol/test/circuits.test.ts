import { expect } from "chai";
import { wtns } from "snarkjs";
import {
  type CircuitName,
  deriveKeys,
  MAX_AMOUNT,
  NoteTree,
  noteCommitment,
  prepareAppend,
  prepareOrigin,
  preparePayment,
  prepareRange,
  prepareWithdrawal,
  type Statement,
} from "../src/index.ts";
import { DEPLOYMENT } from "./support/deployment.ts";
import { maskTree } from "./support/mask-tree.ts";

/*
 * The compiled circuits (made by pnpm build) accept the inputs that this package prepares, and compute the same public
 * signals. The witness generator stops at the first unsatisfied constraint. The circuits' own tests check soundness.
 */
const payer = deriveKeys(new Uint8Array(32).fill(1), DEPLOYMENT);
const merchant = deriveKeys(new Uint8Array(32).fill(2), DEPLOYMENT);
const wallet = "0xffffffffffffffffffffffffffffffffffffffff";
const deployment = { chainId: 31337n, pool: "0x5fbdb2315678afecb367f032d93f642f64180aa3" };
const recipient = { encryptionKey: merchant.encryptionKey, ownerTag: merchant.ownerTag(0) };

async function expectAccepted<Name extends CircuitName>(name: Name, { input, publicSignals }: Statement<Name>) {
  const wasm = new URL(`../../../circuits/build/${name}/${name}.wasm`, import.meta.url);
  const witness = { type: "mem" } as never;
  await wtns.calculate(input as never, wasm.pathname, witness);
  const signals = (await wtns.exportJson(witness)) as unknown as bigint[];
  expect(signals.slice(1, 1 + publicSignals.length)).to.deep.equal(publicSignals);
}

/** A tree with a note of the payer at `leafIndex`, followed by one more leaf. */
function treeWith(leafIndex: number, amount: bigint) {
  const note = { amount, blinding: 5n, spendingKey: payer.spendingKey(0), leafIndex };
  const tree = new NoteTree(Array.from({ length: leafIndex }, (_, i) => BigInt(i + 1)));
  tree.append([noteCommitment({ amount, blinding: 5n, ownerTag: payer.ownerTag(0) }), 77n]);
  return { tree, note };
}

describe("the circuits accept prepared statements", () => {
  const cases = [
    { leafIndex: 0, held: 0n, paid: 0n, scalar: 0n },
    { leafIndex: 64, held: MAX_AMOUNT, paid: MAX_AMOUNT, scalar: (1n << 249n) - 1n },
    { leafIndex: 511, held: MAX_AMOUNT, paid: 1n, scalar: undefined },
  ];
  for (const { leafIndex, held, paid, scalar } of cases) {
    it(`for a payment of ${paid} out of ${held} at leaf ${leafIndex}, its range proof and its origin`, async () => {
      const { tree, note } = treeWith(leafIndex, held);
      const prepared = preparePayment({
        ...deployment,
        tree,
        note,
        changeKey: payer.changeKey,
        nonceKey: payer.nonceKey,
        changeTag: payer.ownerTag(0),
        recipient: { ...recipient, wallet },
        amount: paid,
        resourceUrl: "https://data.example/",
        timestamp: 1_795_243_853_123,
        scalar,
      });
      await expectAccepted("payment", prepared);
      const upperBound = paid === MAX_AMOUNT ? paid : paid + paid / 10n;
      const range = { recipient, amount: paid, scalar: prepared.scalar, lowerBound: paid, upperBound };
      await expectAccepted("elgamal_range", prepareRange(range));
      // A curator that accepts this note only.
      const origin = { note, ...maskTree({ [leafIndex]: tree.leaf(leafIndex) }, leafIndex) };
      await expectAccepted("origin", prepareOrigin(origin));
    });
  }

  it("for a withdrawal of two notes", async () => {
    const { tree, note } = treeWith(7, 40n);
    const second = { ...note, blinding: 6n, leafIndex: 9 };
    tree.append(noteCommitment({ amount: 40n, blinding: 6n, ownerTag: payer.ownerTag(0) }));
    const prepared = prepareWithdrawal({
      ...deployment,
      tree,
      notes: [note, second],
      amount: 30n,
      recipient: wallet,
      fee: 30n,
      feeRecipient: deployment.pool,
      validUntil: 1_795_250_000n,
      changeKey: payer.changeKey,
      outputTag: payer.ownerTag(0),
    });
    await expectAccepted("withdrawal", prepared);
  });

  for (const [size, count] of [
    [0, 1],
    [7, 2],
    [63, 64],
    [456, 64],
  ] as const) {
    it(`for an append of ${count} leaves after ${size}`, async () => {
      const leavesFrom = (start: number, length: number) => Array.from({ length }, (_, i) => BigInt(start + i + 1));
      const tree = new NoteTree(leavesFrom(0, size));
      await expectAccepted("note_append", prepareAppend({ ...deployment, tree, leaves: leavesFrom(size, count) }));
    });
  }
});
