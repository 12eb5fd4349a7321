import { expect } from "chai";
import { assertConfig } from "../../src/relayer/options.ts";
import { DEFAULT_RELAYER_CONFIG, LOCAL_RELAYER_CONFIG } from "../../src/relayer/types.ts";
import { WakeSignal } from "../../src/relayer/wake-signal.ts";

describe("relayer options", () => {
  it("are valid for production and development", () => {
    assertConfig(DEFAULT_RELAYER_CONFIG);
    assertConfig(LOCAL_RELAYER_CONFIG);
  });

  it("are rejected by name if out of range", () => {
    const wrong = { confirmations: 0, maxBatch: 65, gasBudgetPerDay: 0n, leaseTtl: Number.NaN, pollInterval: -1 };
    for (const [name, value] of Object.entries(wrong))
      expect(() => assertConfig({ ...DEFAULT_RELAYER_CONFIG, [name]: value })).to.throw(name);
  });

  it("limit confirmations to a minute, so that a settled payment is still fresh", () => {
    assertConfig({ ...DEFAULT_RELAYER_CONFIG, confirmations: 5, blockSeconds: 12 });
    const slow = { ...DEFAULT_RELAYER_CONFIG, confirmations: 6, blockSeconds: 12 };
    expect(() => assertConfig(slow)).to.throw("72 s");
  });
});

describe("a sleep", () => {
  it("ends early when woken, even if woken before it began", async () => {
    const wakeSignal = new WakeSignal();
    const long = wakeSignal.sleep(60_000);
    wakeSignal.wake();
    await long;
    wakeSignal.wake();
    await wakeSignal.sleep(60_000);
    const start = performance.now();
    await wakeSignal.sleep(20);
    expect(performance.now() - start).to.be.greaterThan(10);
  });
});
