import { expect } from "chai";
import { Sampled } from "../../src/index.ts";

const NEVER = 1_200_000;

describe("a sampled value", () => {
  it("is read at most once a second, and once by concurrent calls", async () => {
    let reads = 0;
    let now = 0;
    const sampled = new Sampled(async () => ++reads, { waitMs: NEVER, clock: () => now });
    expect(await Promise.all([sampled.get(), sampled.get(), sampled.get()])).to.deep.equal([1, 1, 1]);
    now = 999;
    expect(await sampled.get()).to.equal(1);
    now = 1_000;
    expect(await sampled.get()).to.equal(2);
  });

  it("is the last one if reading hangs, but only while it is not too old", async () => {
    let now = 0;
    const reads: ((value: number) => void)[] = [];
    const read = () => new Promise<number>((resolve) => void reads.push(resolve));
    const sampled = new Sampled(read, { reuseMs: 0, waitMs: 1, clock: () => now });
    expect(await sampled.get()).to.equal(undefined);
    reads[0]!(1);
    expect(await sampled.get()).to.equal(1);
    now = 60_000;
    expect(await sampled.get()).to.equal(1);
    now = 60_001;
    expect(await sampled.get()).to.equal(undefined);
    // A reading that hangs is not started again by each scrape.
    expect(reads.length).to.be.at.most(2);
  });

  it("is undefined if reading fails, also after it succeeded", async () => {
    let fails = false;
    const read = async () => {
      if (fails) throw new Error("no database");
      return 1;
    };
    const sampled = new Sampled(read, { reuseMs: 0, waitMs: NEVER });
    expect(await sampled.get()).to.equal(1);
    fails = true;
    expect(await sampled.get()).to.equal(undefined);
    fails = false;
    expect(await sampled.get()).to.equal(1);
  });
});
