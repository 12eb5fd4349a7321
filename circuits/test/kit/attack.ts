import type { Level } from "./circom-worker.ts";
import { type Build, compile } from "./compile.ts";
import { difference } from "./difference.ts";
import { violations } from "./evaluate.ts";
import { type Edit, edit, type Sources } from "./sources.ts";
import { removeGroup, type Tag } from "./tags.ts";
import type { Inputs } from "./witness.ts";

/** The value of a signal by its name without "main.", in the cheater's witness. */
export type Read = (name: string) => bigint;

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

/** A witness by signal name, from a circuit compiled without simplification. */
export class Values {
  readonly #build: Build;
  readonly #witness: readonly bigint[];

  constructor(build: Build, witness: readonly bigint[]) {
    this.#build = build;
    this.#witness = witness;
  }

  readonly read: Read = (name) => this.#witness[this.#build.symbols.label(name)] as bigint;

  /** The same values in the wire order of another circuit with the same signals, at any level of simplification. */
  in(target: Build): bigint[] {
    const labels = target.symbols.labelsIn(this.#build.symbols);
    return Array.from(target.r1cs.wireLabels, (label) => this.#witness[labels[label] as number] as bigint);
  }
}

const small = (sources: Sources, { shrink }: Attack): Sources =>
  shrink === undefined ? sources : edit(sources, [shrink]);

/** The circuit that is attacked, before simplification or as it ships. */
export const target = async (sources: Sources, attack: Attack, level: Level): Promise<Build> =>
  compile(small(sources, attack), attack.main, level, "constraints");

/** The cheater's circuit: the group gone, the generator edited. */
export async function hostile(sources: Sources, tag: Tag, attack: Attack): Promise<Build> {
  const edits = (attack.edits ?? []).map((change) => ({ file: tag.file, ...change }));
  return compile(edit(removeGroup(small(sources, attack), tag), edits), attack.main, "plain");
}

/** The witness the cheater makes. */
export async function cheat(sources: Sources, tag: Tag, attack: Attack): Promise<Values> {
  const build = await hostile(sources, tag, attack);
  return new Values(build, await build.witness(await attack.inputs()));
}

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

export async function runAttack(sources: Sources, tag: Tag, attack: Attack): Promise<Outcome> {
  const [original, cheaters] = await Promise.all([target(sources, attack, "plain"), hostile(sources, tag, attack)]);
  const values = await cheat(sources, tag, attack);
  const labels = cheaters.symbols.labelsIn(original.symbols);
  const { missing, foreign } = difference(original.r1cs, cheaters.r1cs, labels);
  const broken = violations(original.r1cs, values.in(original));
  const inGroup = broken.filter((constraint) => missing.has(constraint)).length;
  return {
    foreign,
    removed: missing.size,
    brokenElsewhere: broken.length - inGroup,
    brokenInGroup: inGroup,
    accepted: await accepts(sources, attack, values),
    harm: await attack.harm(values.read),
  };
}
