import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import { appendEnd, CHECKPOINT_LEAVES, MAX_APPEND_LEAVES, pendingCheckpoints, TREE_CAPACITY } from "../src/index.ts";
import { runs } from "./support/arbitraries.ts";

const start = { appended: 10, lastAppended: 2 };

/** `counts[i]` leaves in block i. */
const queueOf = (counts: readonly number[]) =>
  counts.flatMap((count, blockNumber) =>
    Array.from({ length: count }, (_, i) => ({ leaf: BigInt(i + 1), blockNumber })),
  );

describe("pending checkpoints", () => {
  it("start at each block change and after 32 leaves", () => {
    const counts = (perBlock: number[]) => pendingCheckpoints(start, queueOf(perBlock)).map(({ count }) => count - 10);
    expect(counts([])).to.deep.equal([]);
    expect(counts([1])).to.deep.equal([1]);
    expect(counts([2, 3])).to.deep.equal([2, 5]);
    expect(counts([32, 1])).to.deep.equal([32, 33]);
    expect(counts([33])).to.deep.equal([32, 33]);
    expect(counts([65, 31, 2])).to.deep.equal([32, 64, 65, 96, 98]);
  });

  it("are numbered in order and end at their last leaf", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 5 }), (counts) => {
        const queue = queueOf(counts);
        const checkpoints = pendingCheckpoints(start, queue);
        expect(checkpoints.map(({ sequence }) => sequence - 3)).to.deep.equal([...checkpoints.keys()]);
        let first = 0;
        for (const { count, blockNumber } of checkpoints) {
          const leaves = queue.slice(first, count - 10);
          expect(leaves.length).to.be.within(1, CHECKPOINT_LEAVES);
          expect(leaves.every((leaf) => leaf.blockNumber === blockNumber)).to.equal(true);
          first += leaves.length;
        }
        expect(first).to.equal(queue.length);
      }),
      runs(10),
    );
  });

  it("let an append cover up to 64 leaves", () => {
    const end = (counts: number[]) => {
      const last = appendEnd(start, pendingCheckpoints(start, queueOf(counts)));
      return last && last.count - 10;
    };
    expect(end([])).to.equal(undefined);
    expect(end([5])).to.equal(5);
    expect(end([60, 4, 1])).to.equal(64);
    expect(end([60, 5])).to.equal(60);
    expect(end([100])).to.equal(64);
    expect(end([31, 2, 32])).to.equal(33);
  });

  it("let an append include the whole queue or more than 32 leaves, as the contract requires", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1, maxLength: 8 }), (counts) => {
        const queue = queueOf(counts);
        const length = appendEnd(start, pendingCheckpoints(start, queue))!.count - 10;
        expect(length).to.be.within(Math.min(queue.length, CHECKPOINT_LEAVES + 1), MAX_APPEND_LEAVES);
      }),
      runs(100),
    );
  });

  it("are not computed from a malformed queue", () => {
    const queue = queueOf([2]);
    expectCode("INVALID_INTEGER", () => pendingCheckpoints({ ...start, appended: -1 }, queue), /appended/);
    expectCode("INVALID_INTEGER", () => pendingCheckpoints({ ...start, lastAppended: TREE_CAPACITY + 1 }, queue));
    expectCode("INVALID_ARGUMENT", () => pendingCheckpoints(start, undefined as never), /array/);
    expectCode("INVALID_ARGUMENT", () => pendingCheckpoints(start, [undefined as never]));
    expectCode("INVALID_FIELD_ELEMENT", () => pendingCheckpoints(start, [{ leaf: -1n, blockNumber: 1 }]));
  });
});
