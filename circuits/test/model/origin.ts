import type { Inputs } from "../kit/witness.ts";
import { commitment, nullifier, ownerTag } from "./hash.ts";
import type { Random } from "./random.ts";
import { Tree } from "./tree.ts";

/** All values that define an origin. Values that a test does not choose are random. */
export interface OriginChoices {
  depth: number;
  spendingKey: bigint;
  amount: bigint;
  blinding: bigint;
  leafIndex: bigint;
  /** The mask tree without the note, which is added to it. */
  tree: Tree;
}

export function chooseOrigin(random: Random, chosen: Partial<OriginChoices> = {}): OriginChoices {
  const depth = chosen.depth ?? 10;
  return {
    depth,
    spendingKey: random.field(),
    amount: random.bits(40),
    blinding: random.field(),
    leafIndex: random.below(8n ** BigInt(depth)),
    tree: new Tree(depth),
    ...chosen,
  };
}

/** The model's origin for these choices: the circuit's inputs and the two expected signals. */
export function makeOrigin(choices: OriginChoices): { choices: OriginChoices; inputs: Inputs; signals: bigint[] } {
  const { depth: _, tree, ...note } = choices;
  const leaf = commitment(note.amount, ownerTag(note.spendingKey), note.blinding);
  tree.set(note.leafIndex, leaf);
  const publicInputs = { maskRoot: tree.root, nullifier: nullifier(note.spendingKey, leaf, note.leafIndex) };
  return {
    choices,
    inputs: { ...publicInputs, ...note, pathChildren: tree.path(note.leafIndex) },
    signals: Object.values(publicInputs),
  };
}
