import { expect } from "chai";
import { MemoryUses, type PaymentUse } from "../src/server.ts";

const START = 1_795_243_800_000;

describe("payment uses in memory", () => {
  let now: number;
  let uses: MemoryUses;
  const payment = (digest = "0x01", timestamp = now): PaymentUse => ({
    digest,
    timestamp,
    nullifier: "1",
    resource: "https://data.example/report",
  });

  beforeEach(() => {
    now = START;
    uses = new MemoryUses(() => now);
  });

  it("are acquired by one of many concurrent requests", async () => {
    const claims = await Promise.all(Array.from({ length: 5 }, () => uses.claim(payment())));
    expect(claims).to.deep.equal(["claimed", "busy", "busy", "busy", "busy"]);
    expect(await uses.claim(payment("0x02"))).to.equal("claimed");
    await uses.consume(payment());
    expect(await uses.claim(payment())).to.equal("used");
  });

  it("are released if not settled, without a trace", async () => {
    for (let i = 0; i < 10; i += 1) {
      expect(await uses.claim(payment())).to.equal("claimed");
      await (i % 2 === 0 ? uses.release(payment()) : uses.reject(payment()));
      expect(uses.size).to.equal(0);
    }
  });

  it("allow three failed handlers, not a fourth", async () => {
    for (let i = 0; i < 3; i += 1) {
      expect(await uses.claim(payment())).to.equal("claimed");
      await uses.consume(payment());
      await uses.restore(payment());
    }
    expect(await uses.claim(payment())).to.equal("used");
  });

  it("ignore a release without a claim", async () => {
    await uses.claim(payment());
    await uses.consume(payment());
    await uses.release(payment());
    await uses.reject(payment());
    expect(await uses.claim(payment())).to.equal("used");
    for (const method of ["release", "reject", "consume", "restore"] as const) await uses[method](payment("0x02"));
    expect(await uses.claim(payment("0x02"))).to.equal("claimed");
  });

  it("reject payments from before their start, or far in the future", async () => {
    expect(await uses.claim(payment("0x01", START - 1))).to.equal("early");
    expect(await uses.claim(payment("0x02", START + 2_001))).to.equal("early");
    // The payer's clock is slightly ahead: the claim waits.
    expect(await uses.claim(payment("0x03", START + 20))).to.equal("claimed");
  });

  it("stay consumed while the clock is hours ahead and after it is corrected", async () => {
    const use = payment();
    await uses.claim(use);
    await uses.consume(use);
    now += 80_000_000;
    expect(await uses.claim(payment("0x02"))).to.equal("claimed");
    now -= 80_000_000;
    expect(await uses.claim(use)).to.equal("used");
  });

  it("delete payments that are too old to be presented", async () => {
    for (let i = 0; i < 100; i += 1) await uses.claim(payment(`0x${i}`));
    expect(uses.size).to.equal(100);
    now += 90_000_000;
    await uses.claim(payment("0xff"));
    expect(uses.size).to.equal(1);
  });
});
