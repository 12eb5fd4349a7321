import type { ChainReader } from "@sotto/chain";
import { expect } from "chai";
import { beyondBudget, tellBudget } from "../../src/ops/budget.ts";

const ETHER = 10n ** 18n;
const GWEI = 10n ** 9n;
const settings = { clientQuota: 10_000, sponsorQuota: 100, gasBudget: ETHER };

describe("what one client can cost", () => {
  it("is told beyond a quarter of the day's budget, with the numbers that would fit", () => {
    expect(beyondBudget(settings, GWEI / 100n)).to.equal(undefined);
    // 10,000 payments of 350,000 gas and 100 deposits of 600,000: 3.56 ETH at 1 gwei.
    const message = beyondBudget(settings, GWEI);
    expect(message)
      .to.include("3560000000000000000 wei")
      .and.include("have to be 542,")
      .and.include("14240000000000000000");
    expect(beyondBudget({ ...settings, clientQuota: 542 }, GWEI)).to.equal(undefined);
    expect(beyondBudget({ ...settings, clientQuota: 543 }, GWEI)).to.include("have to be 542,");
    expect(beyondBudget({ ...settings, gasBudget: 14_240_000_000_000_000_000n }, GWEI)).to.equal(undefined);
    expect(beyondBudget({ ...settings, sponsorQuota: 10_000 }, GWEI)).to.include("have to be 0,");
    expect(beyondBudget(settings, 0n)).to.equal(undefined);
  });

  it("is told by the chain's price at the start, and not on a local chain", async () => {
    const told: unknown[] = [];
    const log = { warn: (fields: object, message: string) => told.push(fields, message) };
    const chain = { head: async () => ({ baseFee: GWEI / 2n }), priorityFee: async () => GWEI / 2n };
    const tell = (local: boolean) =>
      tellBudget(
        { ...settings, local },
        chain as unknown as ChainReader,
        log as unknown as Parameters<typeof tellBudget>[2],
      );
    await tell(true);
    expect(told).to.deep.equal([]);
    await tell(false);
    expect(told).to.deep.equal([{ code: "QUOTAS_BEYOND_BUDGET" }, beyondBudget(settings, GWEI)]);
  });
});
