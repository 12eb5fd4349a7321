import { removeGroup, type Tag } from "@sotto/keys/source/tags";
import type { Cheaters } from "../../circuits/test/kit/cheaters.ts";
import { accepts } from "../../circuits/test/kit/run-attack.ts";

/** A removed constraint group, and the tests that fail without it. */
export interface Mutant {
  tag: Tag;
  /** Titles of the soundness tests whose attack the circuit now accepts. */
  caught: string[];
  /** If no test failed: the result of each test. */
  why: string;
}

/**
 * Removes the group and runs its soundness tests against the remaining circuit. Only `===` and `<==` change; the attack's
 * own edits are in the cheating prover's witness generator.
 */
export async function mutate(cheaters: Cheaters, tag: Tag): Promise<Mutant> {
  const caught: string[] = [];
  const reasons: string[] = [];
  const { sources, attacks } = cheaters;
  for (const attack of attacks.filter((candidate) => candidate.tag === tag.id)) {
    const title = `rejects ${attack.title}`;
    try {
      const values = await cheaters.values(attack);
      if (await accepts(sources, attack, values)) reasons.push(`"${title}" fails already`);
      else if (await accepts(removeGroup(sources, tag), attack, values)) caught.push(title);
      else reasons.push(`"${title}" still passes`);
    } catch (error) {
      reasons.push(`"${title}": ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
    }
  }
  return { tag, caught, why: reasons.length === 0 ? "no test names this group" : reasons.join("; ") };
}
