import { isAffected } from "@sotto/keys/source/changed";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Cheaters } from "../kit/cheaters.ts";
import { sources } from "../kit/gadget.ts";
import { runAttack, target } from "../kit/run-attack.ts";
import { attacks as all } from "./all.ts";

// ../README.md explains what each attack shows, and why it is done this way.
const attacks = all.filter(({ main }) => isAffected(sources, main));
const cheaters = new Cheaters(sources, attacks);

const mains = [...new Set(attacks.map(({ main }) => main))];

/** Number of circuits that are compiled ahead of the one under test, so that two threads are busy. */
const AHEAD = 3;

const begun = new Set<string>();

/** Compiles everything that the attacks on a circuit need, once. Their own tests report any failure. */
function compileAhead(main: string): void {
  if (begun.has(main)) return;
  begun.add(main);
  for (const attack of attacks.filter((candidate) => candidate.main === main)) {
    const builds = [cheaters.values(attack), target(sources, attack, "plain"), target(sources, attack, "full")];
    void Promise.allSettled(builds);
  }
}

describe("soundness: each constraint group rejects an attack that no other group rejects", function () {
  slow(this, "circuits are compiled, and witnesses made");
  for (const attack of attacks)
    it(`${attack.tag} rejects ${attack.title}`, async () => {
      const first = mains.indexOf(attack.main);
      for (const main of mains.slice(first, first + 1 + AHEAD)) compileAhead(main);
      const outcome = await runAttack(cheaters, attack);
      expect(outcome.foreign, "constraints only the cheater has").to.equal(0);
      expect(outcome.removed, "constraints of the group").to.be.above(0);
      expect(outcome.brokenElsewhere, "constraints broken outside the group").to.equal(0);
      expect(outcome.brokenInGroup, "constraints broken in the group").to.be.above(0);
      expect(outcome.accepted, "accepted by the circuit as it ships").to.equal(false);
      expect(outcome.harm, "the claim is a lie").to.equal(true);
    });
});
