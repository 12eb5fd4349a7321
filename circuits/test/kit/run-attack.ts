import { type Attack, shrunk } from "./attack.ts";
import type { Cheaters, Values } from "./cheaters.ts";
import type { Level } from "./circom-worker.ts";
import { type Build, compile } from "./compile.ts";
import { difference } from "./difference.ts";
import { violations } from "./evaluate.ts";
import type { Sources } from "./sources.ts";

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
