import { expect } from "chai";
import { hostile, runAttack, target } from "../kit/attack.ts";
import { sources } from "../kit/gadget.ts";
import { readTags } from "../kit/tags.ts";
import { attacks } from "./all.ts";

// What each attack shows, and why in this way, is in ../README.md.
const tags = new Map(readTags(sources).map((tag) => [tag.id, tag]));

describe("soundness: each constraint group refuses what only it can refuse", () => {
  before(async function () {
    this.timeout(600_000);
    // All compilations at once, so that two threads are busy; the tests behind only evaluate, and report what failed.
    await Promise.allSettled(
      attacks.flatMap((attack) => {
        const tag = tags.get(attack.tag);
        return tag === undefined
          ? []
          : [target(sources, attack, "plain"), target(sources, attack, "full"), hostile(sources, tag, attack)];
      }),
    );
  });

  for (const attack of attacks)
    it(`${attack.tag} refuses ${attack.title}`, async () => {
      const tag = tags.get(attack.tag);
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
