import type { CircuitName } from "@sotto/keys/circuits/paths";
import { isAffected } from "@sotto/keys/source/changed";
import {
  deriveKeys,
  type NoteTree,
  noteCommitment,
  NoteTree as ProtocolTree,
  prepareAppend,
  prepareOrigin,
  preparePayment,
  prepareRange,
  prepareWithdrawal,
  type SpendableNote,
} from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Circuit } from "../kit/circuit.ts";
import { sources } from "../kit/gadget.ts";
import { makeAppend } from "../model/append.ts";
import { makeOrigin } from "../model/origin.ts";
import { makePayment } from "../model/payment.ts";
import { Random } from "../model/random.ts";
import { makeRange } from "../model/range.ts";
import { Tree } from "../model/tree.ts";
import { makeWithdrawal, shownFor } from "../model/withdrawal.ts";

// Computes each statement three times: with @sotto/protocol, with the model of these tests, and with the circuit.
const ROUNDS = process.env["SOTTO_LONG"] ? 50 : 3;
const random = new Random(24);
const DEPLOYMENT = { chainId: 31337n, pool: "0x5FbDB2315678afecb367f032d93F642f64180aa3" };
const WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const payer = deriveKeys(new Uint8Array(32).fill(1), DEPLOYMENT);
const payee = deriveKeys(new Uint8Array(32).fill(2), DEPLOYMENT);
const recipient = { encryptionKey: payee.encryptionKey, ownerTag: payee.ownerTag(0) };

/** Both trees, whose last leaves are `count` notes of the payer. */
function pool(count: number): { tree: NoteTree; model: Tree; notes: SpendableNote[] } {
  const strangers = Array.from({ length: Number(random.below(40n)) }, () => random.field());
  const notes = Array.from({ length: count }, (_, i) => ({
    amount: random.bits(40) + 2n,
    blinding: random.field(),
    spendingKey: payer.spendingKey(i),
    leafIndex: strangers.length + i,
  }));
  const own = notes.map((note, i) => noteCommitment({ ...note, ownerTag: payer.ownerTag(i) }));
  const model = new Tree(10);
  for (const [i, leaf] of [...strangers, ...own].entries()) model.set(BigInt(i), leaf);
  return { tree: new ProtocolTree([...strangers, ...own]), model, notes };
}

describe("the protocol package, the model and the circuits agree", function () {
  slow(this, "circuits are compiled, and witnesses made");
  /** Runs the test if at least one of these circuits must be tested. */
  const agree = (title: string, circuits: CircuitName[], test: () => Promise<void>) =>
    circuits.some((name) => isAffected(sources, `${name}.circom`)) && it(title, test);

  agree(`on ${ROUNDS} payments and their amount proofs`, ["payment", "elgamal_range"], async () => {
    const [circuit, rangeCircuit] = [await Circuit.load("payment"), await Circuit.load("elgamal_range")];
    for (let round = 0; round < ROUNDS; round++) {
      const { tree, model, notes } = pool(1);
      const note = notes[0] as SpendableNote;
      const amount = random.below(note.amount + 1n);
      const prepared = preparePayment({
        ...DEPLOYMENT,
        tree,
        note,
        changeKey: payer.changeKey,
        nonceKey: payer.nonceKey,
        changeTag: payer.ownerTag(0),
        recipient: { ...recipient, wallet: WALLET },
        amount,
        resourceUrl: "https://data.example/report?day=1",
        timestamp: 1_800_000_000_000 + round,
      });
      const { input, publicSignals } = prepared;
      await circuit.accept({ inputs: input, signals: publicSignals });
      const modelled = makePayment({
        depth: 10,
        tree: model,
        recipientKey: payee.encryptionKey,
        recipientQ: input.recipientQ as [bigint, bigint],
        ...pick(input, [
          "spendingKey",
          "inputBlinding",
          "leafIndex",
          "wallet",
          "recipientTag",
          "senderNonce",
          "scalar",
        ]),
        ...pick(input, ["amount", "changeAmount", "changeTag", "changeBlinding", "resourceUrl", "changeHint"]),
      });
      expect(publicSignals).to.deep.equal(modelled.signals);

      const bounds = { lowerBound: amount / 2n, upperBound: amount + 5n };
      const range = prepareRange({ recipient, amount, scalar: prepared.scalar, ...bounds });
      await rangeCircuit.accept({ inputs: range.input, signals: range.publicSignals });
      const { encryptionKey: recipientKey, ownerTag: recipientTag } = recipient;
      const choices = { recipientKey, recipientTag, amount, scalar: prepared.scalar, ...bounds };
      expect(range.publicSignals).to.deep.equal(makeRange(random, choices).signals);
    }
  });

  agree("on withdrawals of 1 and 8 notes", ["withdrawal"], async () => {
    const circuit = await Circuit.load("withdrawal");
    for (const count of [1, 8]) {
      const { tree, notes } = pool(count);
      const total = notes.reduce((sum, note) => sum + note.amount, 0n);
      const { input, publicSignals, signals } = prepareWithdrawal({
        ...DEPLOYMENT,
        tree,
        notes,
        amount: total / 2n,
        fee: 1n,
        feeRecipient: WALLET,
        recipient: WALLET,
        validUntil: 1_800_000_000n,
        changeKey: payer.changeKey,
        outputTag: payer.ownerTag(0),
      });
      await circuit.accept({ inputs: input, signals: publicSignals });
      const modelled = makeWithdrawal({
        depth: 10,
        notes: Array.from({ length: 8 }, (_, i) => ({
          enabled: input.enabled[i] as bigint,
          spendingKey: input.spendingKeys[i] as bigint,
          amount: input.amounts[i] as bigint,
          blinding: input.blindings[i] as bigint,
          leafIndex: input.leafIndices[i] as bigint,
        })),
        ...pick(input, ["amount", "outputAmount", "outputTag", "outputBlinding", "challenge"]),
      });
      // The model's tree contains only the spent notes, so its root differs. Everything else is equal.
      const statement = modelled.statement.with(1, tree.root);
      expect(signals.slice(1, 12)).to.deep.equal(statement);
      expect(publicSignals).to.deep.equal(Object.values(shownFor(statement, input.challenge)));
    }
  });

  agree("on appends", ["note_append"], async () => {
    const circuit = await Circuit.load("note_append");
    for (const count of [1, 64]) {
      const { tree, model } = pool(2);
      const leaves = Array.from({ length: count }, () => random.field());
      const { input, publicSignals } = prepareAppend({ ...DEPLOYMENT, tree, leaves });
      await circuit.accept({ inputs: input, signals: publicSignals });
      const modelled = makeAppend(model, BigInt(tree.size), leaves, input.challenge as bigint);
      expect(publicSignals).to.deep.equal(modelled.signals);
      expect(input.leftSiblings).to.deep.equal(modelled.inputs["leftSiblings"]);
    }
  });

  agree("on origins", ["origin"], async () => {
    const circuit = await Circuit.load("origin");
    for (let round = 0; round < ROUNDS; round++) {
      const { notes } = pool(1);
      const note = notes[0] as SpendableNote;
      const leafIndex = BigInt(note.leafIndex);
      // In the mask tree, the note's neighbours may be 0.
      const tree = new Tree(10);
      tree.set(random.below(40n), random.field());
      const { amount, blinding, spendingKey } = note;
      const modelled = makeOrigin({ depth: 10, amount, blinding, spendingKey, leafIndex, tree });
      const path = { leafIndex: note.leafIndex, pathChildren: tree.path(leafIndex) };
      const { input, publicSignals } = prepareOrigin({ note, path, maskRoot: tree.root });
      await circuit.accept({ inputs: input, signals: publicSignals });
      expect(publicSignals).to.deep.equal(modelled.signals);
    }
  });
});

/** The inputs with these names, each a single number. */
function pick<Name extends string>(input: object, names: readonly Name[]): Record<Name, bigint> {
  const values = input as Record<string, unknown>;
  return Object.fromEntries(names.map((name) => [name, values[name] as bigint])) as Record<Name, bigint>;
}
