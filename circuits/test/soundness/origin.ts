import type { Attack } from "../kit/attack.ts";
import type { Inputs } from "../kit/witness.ts";
import { chooseOrigin, makeOrigin } from "../model/origin.ts";
import { Random } from "../model/random.ts";
import { Tree } from "../model/tree.ts";
import { swap } from "./define.ts";

const DEPTH = 2;
const random = new Random(11);
const note = { depth: DEPTH, leafIndex: 9n };

/** The curator's mask tree, with one note of the prover, and 0 at every other index. */
const accepted = makeOrigin(chooseOrigin(random, note));
const [maskRoot, nullifier] = accepted.signals as [bigint, bigint];

/** A note of the prover that the curator left out, in a mask tree that the prover made up. */
const leftOut = makeOrigin(chooseOrigin(random, { ...note, leafIndex: 10n }));
const [ownRoot, outside] = leftOut.signals as [bigint, bigint];

const attack = (tag: string, title: string, own: Partial<Attack> & { inputs: () => Inputs }): Attack => ({
  tag: `origin.${tag}`,
  title,
  main: "origin.circom",
  shrink: { file: "origin.circom", find: "= Origin(10);", replace: `= Origin(${DEPTH});` },
  // The proof says of the nullifier of another note that the curator accepts it.
  harm: (read) => read("maskRoot") === maskRoot && read("nullifier") !== nullifier,
  ...own,
});

export const originAttacks: readonly Attack[] = [
  attack("note", "a note that the curator left out", {
    ...swap("noteRoot <-- cut0.root", `noteRoot <-- ${maskRoot}`),
    inputs: () => ({ ...leftOut.inputs, maskRoot }),
    harm: (read) => read("maskRoot") === maskRoot && read("nullifier") === outside,
  }),
  attack("note", "the nullifier of a note left out, shown by one in the set", {
    ...swap("noteNullifier <-- cut0.nullifier", `noteNullifier <-- ${outside}`),
    inputs: () => ({ ...accepted.inputs, nullifier: outside }),
  }),
  attack("mask_root", "a note in a set that the prover made up", {
    inputs: () => ({ ...leftOut.inputs, maskRoot }),
    harm: (read) => read("maskRoot") !== ownRoot && read("nullifier") === outside,
  }),
  attack("mask_root", "a note in an empty set", {
    inputs: () => ({ ...accepted.inputs, maskRoot: new Tree(DEPTH).root }),
    harm: (read) => read("maskRoot") === new Tree(DEPTH).root,
  }),
  attack("nullifier", "the nullifier of a note outside the set", {
    inputs: () => ({ ...accepted.inputs, nullifier: outside }),
  }),
  attack("nullifier", "nullifier 0", { inputs: () => ({ ...accepted.inputs, nullifier: 0n }) }),
];
