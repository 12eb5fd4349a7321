import { type Cheaters, type Read, shrunk, type Values } from "./cheaters.ts";
import type { Level } from "./circom-worker.ts";
import { type Build, compile } from "./compile.ts";
import { difference } from "./difference.ts";
import { violations } from "./evaluate.ts";
import type { Edit, Sources } from "./sources.ts";
import type { Inputs } from "./witness.ts";

/** A cheating prover who gets away with a lie once the constraint group `tag` is gone. */
export interface Attack {
  tag: string;
  /** What the cheater does, as the end of the sentence "refuses ...". */
  title: string;
  /** The circuit: the text of a main over the gadget, or the path of one of the four mains. */
  main: string;
  /** Makes a main small, by its parameters. Only the last line of its file may change, below every tag. */
  shrink?: Edit;
  /**
   * What the cheater's generator computes otherwise, made after the group is gone (so `<==` in it reads `<--`, and its
   * anonymous components are cut0, cut1, ...). The file is the tag's unless named.
   */
  edits?: readonly (Omit<Edit, "file"> & { file?: string })[];
  /** What the cheater feeds the generator; computed late, so that listing the attacks costs nothing. */
  inputs: () => Inputs | Promise<Inputs>;
  /** Whether what the witness claims is false, judged without the circuit. A lie that is none shows nothing. */
  harm: (read: Read) => boolean | Promise<boolean>;
}

/** The circuit that is attacked, before simplification or as it ships. */
export const target = async (sources: Sources, attack: Attack, level: Level): Promise<Build> =>
  compile(shrunk(sources, attack), attack.main, level, "constraints");

/** Whether the circuit, as it ships, takes these values. */
export async function accepts(sources: Sources, attack: Attack, values: Values): Promise<boolean> {
  const build = await target(sources, attack, "full");
  return violations(build.r1cs, values.in(build)).length === 0;
}

/** What an attack showed; each must be as the comment says, or the attack proves nothing. */
export interface Outcome {
  /** Constraints of the cheater's circuit that the original does not have: 0. */
  foreign: number;
  /** Constraints the cheater took away: more than 0. */
  removed: number;
  /** Constraints broken among those that stay: 0. This is the control. */
  brokenElsewhere: number;
  /** Constraints broken among those taken away: more than 0. */
  brokenInGroup: number;
  /** The original, as it ships, takes the witness: false. */
  accepted: boolean;
  /** The claim is false: true. */
  harm: boolean;
}

export async function runAttack(cheaters: Cheaters, attack: Attack): Promise<Outcome> {
  const [original, values] = await Promise.all([target(cheaters.sources, attack, "plain"), cheaters.values(attack)]);
  const labels = values.labels(original);
  const { missing, foreign } = difference(original.r1cs, values.build.r1cs, labels);
  const broken = violations(original.r1cs, values.in(original, labels));
  const inGroup = broken.filter((constraint) => missing.has(constraint)).length;
  return {
    foreign,
    removed: missing.size,
    brokenElsewhere: broken.length - inGroup,
    brokenInGroup: inGroup,
    accepted: await accepts(cheaters.sources, attack, values),
    harm: await attack.harm(values.read),
  };
}
