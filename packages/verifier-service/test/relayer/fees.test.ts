import { expect } from "chai";
import { feesFor, replacementFees } from "../../src/relayer/fees.ts";

const GWEI = 1_000_000_000n;
const caps = { maxFeePerGas: 100n * GWEI, maxPriorityFeePerGas: 3n * GWEI };

describe("fees", () => {
  it("offer twice the base fee plus the suggested tip, up to the cap", () => {
    expect(feesFor(10n * GWEI, 2n * GWEI, caps)).to.deep.equal({ maxFee: 22n * GWEI, maxPriority: 2n * GWEI });
    expect(feesFor(10n * GWEI, 50n * GWEI, caps)).to.deep.equal({ maxFee: 23n * GWEI, maxPriority: 3n * GWEI });
    expect(feesFor(80n * GWEI, 2n * GWEI, caps)).to.deep.equal({ maxFee: 100n * GWEI, maxPriority: 2n * GWEI });
  });

  it("are refused while the base fee exceeds the cap", () => {
    expect(feesFor(100n * GWEI + 1n, 0n, caps)).to.equal(undefined);
  });

  it("never have a tip above the maximum fee, even without a base fee", () => {
    for (const base of [0n, 1n, GWEI])
      for (const priority of [0n, 1n, 200n * GWEI]) {
        const { maxFee, maxPriority } = feesFor(base, priority, caps)!;
        expect(maxFee > 0n && maxPriority <= maxFee && maxFee <= caps.maxFeePerGas).to.equal(true);
      }
  });

  it("are both at least an eighth higher for a replacement, or the current fees if those are higher", () => {
    const old = { maxFee: 20n * GWEI, maxPriority: 1n };
    expect(replacementFees(old, undefined, caps)).to.deep.equal({ maxFee: (45n * GWEI) / 2n + 1n, maxPriority: 2n });
    const now = { maxFee: 60n * GWEI, maxPriority: 2n * GWEI };
    expect(replacementFees(old, now, caps)).to.deep.equal(now);
  });

  it("never exceed the cap for a replacement", () => {
    const old = { maxFee: 95n * GWEI, maxPriority: GWEI };
    expect(replacementFees(old, undefined, caps)).to.equal(undefined);
  });
});
