import { mod } from "@sotto/certify/check/field";
import type { Inputs } from "../kit/witness.ts";
import { evaluate } from "./append.ts";
import { commitment, DOMAIN, nullifier, ownerTag, poseidon } from "./hash.ts";
import type { Random } from "./random.ts";
import { Tree } from "./tree.ts";

/** One input of a withdrawal. A disabled input has amount 0 and shows nullifier 0. */
export interface SpentNote {
  enabled: bigint;
  spendingKey: bigint;
  amount: bigint;
  blinding: bigint;
  leafIndex: bigint;
}

export interface WithdrawalChoices {
  depth: number;
  notes: SpentNote[];
  amount: bigint;
  outputAmount: bigint;
  outputTag: bigint;
  outputBlinding: bigint;
  challenge: bigint;
}

export interface Withdrawal {
  /** Amount, root, nullifiers and commitment, of which the public signals are computed. */
  statement: bigint[];
  choices: WithdrawalChoices;
  inputs: Inputs;
  signals: bigint[];
  tree: Tree;
}

const leafOf = (note: SpentNote) => commitment(mod(note.amount), ownerTag(note.spendingKey), note.blinding);

/** `notes` inputs; only the first `enabled` are used. Values that a test does not choose are random. */
export function chooseWithdrawal(
  random: Random,
  shape: { depth: number; inputs: number; enabled: number },
  chosen: Partial<WithdrawalChoices> = {},
): WithdrawalChoices {
  const capacity = 8n ** BigInt(shape.depth);
  const used = new Set<bigint>();
  const notes = Array.from({ length: shape.inputs }, (_, i) => {
    let leafIndex = random.below(capacity);
    while (used.has(leafIndex)) leafIndex = random.below(capacity);
    used.add(leafIndex);
    const enabled = i < shape.enabled;
    return {
      enabled: enabled ? 1n : 0n,
      spendingKey: random.field(),
      amount: enabled ? random.bits(40) + 1n : 0n,
      blinding: random.field(),
      leafIndex,
    };
  });
  const total = (chosen.notes ?? notes).reduce((sum, note) => sum + note.amount, 0n);
  const amount = chosen.amount ?? random.below(total + 1n);
  return {
    depth: shape.depth,
    notes,
    amount,
    outputAmount: total - amount,
    outputTag: random.field(),
    outputBlinding: random.field(),
    challenge: random.field(),
    ...chosen,
  };
}

/** The model's withdrawal for these choices. An unused input has the path of its leaf in an otherwise empty tree. */
export function makeWithdrawal(choices: WithdrawalChoices): Withdrawal {
  const tree = new Tree(choices.depth);
  for (const note of choices.notes) if (note.enabled === 1n) tree.set(note.leafIndex, leafOf(note));
  const paths = choices.notes.map((note) => {
    if (note.enabled === 1n) return tree.path(note.leafIndex);
    const dummy = new Tree(choices.depth);
    dummy.set(note.leafIndex, leafOf(note));
    return dummy.path(note.leafIndex);
  });
  const nullifiers = choices.notes.map((note) =>
    note.enabled === 1n ? nullifier(note.spendingKey, leafOf(note), note.leafIndex) : 0n,
  );
  const output = commitment(mod(choices.outputAmount), choices.outputTag, choices.outputBlinding);
  const statement = [choices.amount, tree.root, ...nullifiers, output];
  const publicInputs = shownFor(statement, choices.challenge);
  const inputs = {
    ...publicInputs,
    amount: choices.amount,
    root: tree.root,
    enabled: choices.notes.map((note) => note.enabled),
    spendingKeys: choices.notes.map((note) => note.spendingKey),
    amounts: choices.notes.map((note) => note.amount),
    blindings: choices.notes.map((note) => note.blinding),
    leafIndices: choices.notes.map((note) => note.leafIndex),
    pathChildren: paths,
    outputAmount: choices.outputAmount,
    outputTag: choices.outputTag,
    outputBlinding: choices.outputBlinding,
  };
  return { choices, inputs, signals: Object.values(publicInputs), statement, tree };
}

/** The public signals of a statement at this challenge. */
export const shownFor = (statement: readonly bigint[], challenge: bigint) => ({
  statementHash: poseidon(statement.map(mod), DOMAIN.withdrawal),
  challenge,
  evaluation: evaluate(statement, challenge),
});
