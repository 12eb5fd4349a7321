import { expect } from "chai";
import { ARBITRUM_PRECOMPILE, FeeMarket, GAS_PRICE_ORACLES, NODE_INTERFACE } from "../../src/relayer/fee-market.ts";

const ETHER = 10n ** 18n;
const GWEI = 10n ** 9n;

describe("the fee market", () => {
  let now: number;
  let asked: number;
  let chain: {
    baseFee: bigint;
    suggested: bigint | undefined;
    tips: bigint[] | undefined;
    codes: Record<string, string>;
    /** What contracts return. */
    data: Record<string, bigint>;
  };
  const market = (caps: { maxFeePerGas?: bigint; maxPriorityFeePerGas?: bigint } = {}) =>
    new FeeMarket({
      maxFeePerGas: caps.maxFeePerGas,
      maxPriorityFeePerGas: caps.maxPriorityFeePerGas,
      gasBudgetPerDay: ETHER,
      clock: () => now,
      chain: {
        head: async () => ({ number: 1, hash: "0x01", timestamp: 0, baseFee: chain.baseFee }),
        priorityFee: async () => chain.suggested,
        async feeHistory() {
          asked += 1;
          if (chain.tips === undefined) throw new Error("the method does not exist");
          return { baseFees: [chain.baseFee / 2n, chain.baseFee, chain.baseFee * 2n], tips: chain.tips };
        },
        code: async (address) => chain.codes[address] ?? "0x",
        read: async (_, address) => (chain.data[address] ?? 0n) as never,
      },
    });
  beforeEach(() => {
    [now, asked] = [1_790_000_000_000, 0];
    chain = { baseFee: GWEI, suggested: GWEI, tips: [GWEI], codes: {}, data: {} };
  });

  it("pays the 30 gwei that Polygon's builders require, from the node's suggestion or recent blocks", async () => {
    chain = { ...chain, baseFee: 40n * GWEI, suggested: 30n * GWEI, tips: [30n * GWEI, 31n * GWEI, 35n * GWEI] };
    expect((await market().current(chain))!.maxPriority).to.equal(31n * GWEI);
    chain.suggested = undefined;
    expect((await market().current(chain))!.maxPriority).to.equal(31n * GWEI);
    [chain.suggested, chain.tips] = [30n * GWEI, undefined];
    expect((await market().current(chain))!.maxPriority).to.equal(30n * GWEI);
  });

  it("offers at least the tip that a node required, for an hour, within a configured cap", async () => {
    chain = { ...chain, baseFee: GWEI, suggested: 2n * GWEI, tips: [] };
    const [open, limited] = [market(), market({ maxPriorityFeePerGas: 5n * GWEI })];
    for (const each of [open, limited]) {
      expect((await each.current(chain))!.maxPriority).to.equal(2n * GWEI);
      for (const wei of [25n * GWEI, 24n * GWEI]) each.requireTip(wei);
    }
    expect((await open.current(chain))!.maxPriority).to.equal(25n * GWEI);
    expect((await limited.current(chain))!.maxPriority).to.equal(5n * GWEI);
    now += 3_600_000;
    expect((await open.current(chain))!.maxPriority).to.equal(2n * GWEI);
  });

  it("offers a low tip on a cheap chain", async () => {
    chain = { ...chain, baseFee: GWEI / 200n, suggested: GWEI / 1000n, tips: [GWEI / 1000n] };
    expect(await market().current(chain)).to.deep.equal({
      maxFee: GWEI / 100n + GWEI / 1000n,
      maxPriority: GWEI / 1000n,
    });
  });

  it("derives its caps from recent blocks, and keeps them for an hour", async () => {
    chain = { ...chain, baseFee: 20n * GWEI, suggested: 2n * GWEI, tips: [2n * GWEI] };
    const open = market();
    expect(await open.caps()).to.deep.equal({ maxFeePerGas: 220n * GWEI, maxPriorityFeePerGas: 6n * GWEI });
    chain.baseFee = 221n * GWEI;
    now += 60_000;
    expect(await open.current(chain)).to.equal(undefined);
    now += 3_600_000;
    expect((await open.current(chain))!.maxFee > 221n * GWEI).to.equal(true);
  });

  it("bounds the cap by the daily budget", async () => {
    chain = { ...chain, baseFee: 1n, suggested: 0n, tips: [] };
    const { maxFeePerGas, maxPriorityFeePerGas } = await market().caps();
    expect(maxFeePerGas).to.equal(ETHER / 1000n / 480_000n);
    expect(maxPriorityFeePerGas).to.equal(maxFeePerGas / 10n);
  });

  it("prefers configured caps", async () => {
    chain = { ...chain, baseFee: 20n * GWEI, suggested: 30n * GWEI, tips: [] };
    const caps = { maxFeePerGas: 25n * GWEI, maxPriorityFeePerGas: 40n * GWEI };
    expect(await market(caps).caps()).to.deep.equal({ ...caps, maxPriorityFeePerGas: 25n * GWEI });
    chain.baseFee = 26n * GWEI;
    expect(await market(caps).current(chain)).to.equal(undefined);
  });

  it("works without a fee history, and requests one at most every ten seconds", async () => {
    chain.tips = undefined;
    const open = market();
    expect(await open.usualPrice()).to.deep.equal({ baseFee: GWEI, tip: GWEI });
    await open.current(chain);
    await open.current(chain);
    expect(asked).to.equal(1);
    now += 10_000;
    await open.current(chain);
    expect(asked).to.equal(2);
  });

  it("adds the L1 data fee plus a quarter, only on chains with the oracle of the OP stack or of Scroll", async () => {
    for (const oracle of GAS_PRICE_ORACLES) chain.data[oracle] = 400n;
    expect(await market().dataFee("0x02")).to.equal(0n);
    for (const oracle of GAS_PRICE_ORACLES) {
      chain.codes = { [oracle]: "0x60" };
      expect(await market().dataFee("0x02"), oracle).to.equal(500n);
      expect(await market().sampleCost(), oracle).to.deep.equal({ gas: 0n, fee: 500n });
    }
  });

  it("knows the part of gas that pays for data, plus a quarter, only on Arbitrum", async () => {
    chain.data[NODE_INTERFACE] = 400n;
    for (const code of ["0x", "0x60"]) {
      chain.codes = { [ARBITRUM_PRECOMPILE.address]: code };
      expect(await market().dataGas(NODE_INTERFACE, "0x02"), code).to.equal(0n);
    }
    chain.codes = { [ARBITRUM_PRECOMPILE.address]: ARBITRUM_PRECOMPILE.code };
    expect(await market().dataGas(NODE_INTERFACE, "0x02")).to.equal(500n);
    expect(await market().sampleCost()).to.deep.equal({ gas: 500n, fee: 0n });
  });
});
