import type { ServiceLog } from "@sotto/server";
import { expect } from "chai";
import { costOf, MAX_QUOTAS, presentPrice, quotasFor, startingQuotas } from "../../src/operations/budget.ts";
import type { DataCost } from "../../src/relayer/fee-market.ts";

const ETHER = 10n ** 18n;
const GWEI = 10n ** 9n;
const settings = {
  clientQuota: undefined,
  sponsorQuota: undefined,
  gasBudget: ETHER,
  quotasBeyondBudget: "refuse" as const,
  local: false,
};
const price = (weiPerGas: bigint, data: Partial<DataCost> = {}) =>
  presentPrice({
    usualPrice: async () => ({ baseFee: weiPerGas, tip: 0n }),
    sampleCost: async () => ({ gas: 0n, fee: 0n, ...data }),
  });

describe("quotas and the day's budget", () => {
  let told: object[];
  const log = {
    info: () => {},
    warn: (fields: object, message: string) => void told.push({ ...fields, message }),
  } as unknown as ServiceLog;
  beforeEach(() => {
    told = [];
  });

  it("limit one client network to a quarter of the budget at any gas price", async () => {
    for (const weiPerGas of [1n, GWEI / 1000n, GWEI / 100n, GWEI, 30n * GWEI]) {
      const now = await price(weiPerGas);
      const quotas = startingQuotas(settings, now, log);
      expect(costOf(quotas, now) <= ETHER / 4n, `${weiPerGas} wei`).to.equal(true);
      expect(quotas.clientQuota).to.be.within(1, MAX_QUOTAS.clientQuota);
      expect(quotas.sponsorQuota).to.be.within(1, MAX_QUOTAS.sponsorQuota);
    }
    // An eighth of a budget of 1 ETH, divided by 4 because a /48 has four times the quota of a /64, at 0.00048 ETH per payment.
    expect(startingQuotas(settings, await price(GWEI), log)).to.deep.equal({ clientQuota: 65, sponsorQuota: 41 });
    expect(startingQuotas(settings, await price(GWEI / 100n), log)).to.deep.equal({
      clientQuota: 6_510,
      sponsorQuota: 100,
    });
    expect(startingQuotas(settings, await price(0n), log)).to.deep.equal(MAX_QUOTAS);
    expect(told).to.deep.equal([]);
  });

  it("count data on a parent chain, whether it is a fee or a part of the gas", async () => {
    const without = await price(GWEI / 100n);
    for (const data of [{ fee: 48_000n * GWEI }, { gas: 4_800_000n }]) {
      const cost = await price(GWEI / 100n, data);
      expect(cost.payment).to.equal(without.payment + 48_000n * GWEI);
      expect(cost.sponsored).to.equal(without.sponsored + 48_000n * GWEI);
      expect(quotasFor(settings, cost).clientQuota).to.be.lessThan(quotasFor(settings, without).clientQuota / 5);
    }
  });

  it("prevent the start if one client could consume the budget, unless a setting allows it", async () => {
    const wide = { ...settings, clientQuota: 10_000, sponsorQuota: 100 };
    const now = await price(GWEI);
    expect(() => startingQuotas(wide, now, log))
      .to.throw("at most 65 and 41")
      .with.property("code", "QUOTAS_BEYOND_BUDGET");
    const allowed = { ...wide, quotasBeyondBudget: "allow" as const };
    expect(startingQuotas(allowed, now, log)).to.deep.equal({ clientQuota: 10_000, sponsorQuota: 100 });
    expect(told).to.have.length(1);
    expect(told[0]).to.include({ code: "QUOTAS_BEYOND_BUDGET" });
    // This budget pays for a few transactions only.
    expect(() => startingQuotas({ ...settings, gasBudget: 10n ** 15n }, now, log)).to.throw("SOTTO_GAS_BUDGET");
  });

  it("warn the operator if one client could consume more than a quarter", async () => {
    const wide = { ...settings, clientQuota: 300 };
    expect(startingQuotas(wide, await price(GWEI), log).clientQuota).to.equal(300);
    expect(told).to.have.length(1);
  });

  it("are not limited by the budget on a local chain", async () => {
    const local = { ...settings, clientQuota: 1_000_000, local: true };
    const quotas = startingQuotas(local, await price(GWEI), log);
    expect(quotas).to.deep.equal({ clientQuota: 1_000_000, sponsorQuota: MAX_QUOTAS.sponsorQuota });
  });
});
