import { expect } from "chai";
import { type Attack, hostile, runAttack, target } from "../kit/attack.ts";
import { isAffected } from "../kit/changed.ts";
import { sources } from "../kit/gadget.ts";
import { readTags } from "../kit/tags.ts";
import { attacks as all } from "./all.ts";

// What each attack shows, and why in this way, is in ../README.md.
const tags = new Map(readTags(sources).map((tag) => [tag.id, tag]));
const attacks = all.filter(({ main }) => isAffected(sources, main));

/** So many attacks are compiled ahead of the one that is evaluated, so that two threads are busy. */
const AHEAD = 12;

/** Compiles what an attack needs. What goes wrong is reported by its own test. */
function compileAhead(attack: Attack): void {
  const tag = tags.get(attack.tag);
  if (tag === undefined) return;
  const builds = [target(sources, attack, "plain"), target(sources, attack, "full"), hostile(sources, tag, attack)];
  void Promise.allSettled(builds);
}

describe("soundness: each constraint group refuses what only it can refuse", () => {
  for (const [index, attack] of attacks.entries())
    it(`${attack.tag} refuses ${attack.title}`, async () => {
      const tag = tags.get(attack.tag);
      for (const next of attacks.slice(index === 0 ? 0 : index + AHEAD - 1, index + AHEAD)) compileAhead(next);
      if (tag === undefined) throw new Error(`no constraint group ${attack.tag} in circuits/`);
      const outcome = await runAttack(sources, tag, attack);
      expect(outcome.foreign, "constraints only the cheater has").to.equal(0);
      expect(outcome.removed, "constraints of the group").to.be.above(0);
      expect(outcome.brokenElsewhere, "constraints broken outside the group").to.equal(0);
      expect(outcome.brokenInGroup, "constraints broken in the group").to.be.above(0);
      expect(outcome.accepted, "accepted by the circuit as it ships").to.equal(false);
      expect(outcome.harm, "the claim is a lie").to.equal(true);
    });
});
