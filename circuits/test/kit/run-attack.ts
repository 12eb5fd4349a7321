import type { Sources } from "@sotto/keys/source/sources";
import { type Attack, shrunk } from "./attack.ts";
import type { Cheaters, Values } from "./cheaters.ts";
import { type Build, compile, type Level } from "./compile.ts";
import { difference } from "./difference.ts";
import { violations } from "./evaluate.ts";

/** The attacked circuit, without simplification or as shipped. */
export const target = async (sources: Sources, attack: Attack, level: Level): Promise<Build> =>
  compile(shrunk(sources, attack), attack.main, level, "constraints");

/** Whether the circuit as shipped accepts these values. */
export async function accepts(sources: Sources, attack: Attack, values: Values): Promise<boolean> {
  const build = await target(sources, attack, "full");
  return violations(build.r1cs, values.in(build)).length === 0;
}

/** Result of an attack. Each field must have the value given in its comment; otherwise the attack proves nothing. */
export interface Outcome {
  /** Constraints of the cheater's circuit that the original does not have: 0. */
  foreign: number;
  /** Constraints that the cheater removed: more than 0. */
  removed: number;
  /** Broken constraints among those that remain: 0. This is the control. */
  brokenElsewhere: number;
  /** Broken constraints among those removed: more than 0. */
  brokenInGroup: number;
  /** Whether the original as shipped accepts the witness: false. */
  accepted: boolean;
  /** Whether the claim is false: true. */
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
