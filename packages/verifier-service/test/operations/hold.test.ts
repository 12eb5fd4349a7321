import { expect } from "chai";
import { Holds, MAX_HOLD_MS } from "../../src/operations/hold.ts";

const NOW = 1_790_000_000_000;
/** A payment's deadline, two minutes from now, seconds. */
const DEADLINE = NOW / 1000 + 120;

function open(
  change: { maxHeld?: number; settleWaitMs?: number | undefined; confirmations?: number; blockTimeMs?: number } = {},
) {
  const held: number[] = [];
  const limits = { maxHeld: 100, settleWaitMs: undefined, confirmations: 4, blockTimeMs: 2_000, ...change };
  const holds = new Holds({ limits, clock: () => NOW, onChange: (count) => held.push(count) });
  const enter = (payment: string, client = "a", asyncAfterMs?: number) =>
    holds.enter(payment, { client, asyncAfterMs });
  return { enter, held };
}

describe("a request for a settlement", () => {
  it("is held until the payment's deadline, its confirmations and two blocks", () => {
    const { waitMs, mayAnswerPending } = open().enter("1");
    expect([waitMs(DEADLINE), mayAnswerPending]).to.deep.equal([120_000 + 6 * 2_000, false]);
    expect(waitMs(NOW / 1000 - 60)).to.equal(0);
  });

  it("is released before an idle connection is closed", () => {
    expect(
      open({ confirmations: 1, blockTimeMs: 60_000 })
        .enter("1")
        .waitMs(DEADLINE + 90),
    ).to.equal(MAX_HOLD_MS);
    expect(MAX_HOLD_MS).to.be.below(300_000);
  });

  it("is held no longer than its client and the operator allow", () => {
    for (const [settleWaitMs, asked, expected] of [
      [undefined, 0, 0],
      [undefined, 20_000, 20_000],
      [5_000, undefined, 5_000],
      [5_000, 20_000, 5_000],
      [30_000, 20_000, 20_000],
      [undefined, 999_999_000, 132_000],
    ] as const) {
      const { enter } = open({ settleWaitMs });
      const { waitMs, mayAnswerPending } = enter("1", "a", asked);
      expect([waitMs(DEADLINE), mayAnswerPending]).to.deep.equal([expected, true]);
    }
  });

  it("takes one of a limited number of slots: in total, per address and per payment", () => {
    const { enter, held } = open({ maxHeld: 20 });
    const refused = (payment: string, client: string) =>
      expect(() => enter(payment, client))
        .to.throw()
        .with.property("code", "OVERLOADED");
    const same = Array.from({ length: 8 }, () => enter("same", "a"));
    refused("same", "b");
    const [other] = [enter("other 1", "a"), enter("other 2", "a")];
    refused("other 3", "a");
    for (let n = 0; n < 10; n += 1) enter(`more ${n}`, "b");
    refused("last", "c");
    expect(held.at(-1)).to.equal(20);
    same[0]!.leave();
    same[0]!.leave();
    other!.leave();
    expect(held.at(-1)).to.equal(18);
    enter("last", "c");
    enter("same", "c");
    refused("late", "d");
  });

  it("is answered immediately if no slot is free and its client accepts pending", () => {
    const { enter, held } = open({ maxHeld: 1 });
    enter("1", "a");
    const late = enter("2", "b", 20_000);
    expect([late.waitMs(DEADLINE), late.mayAnswerPending]).to.deep.equal([0, true]);
    late.leave();
    expect(held).to.deep.equal([1]);
  });
});
