import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import { appendEnd, checkpointWords, foldQueue, pendingCheckpoints, TREE_CAPACITY } from "../src/index.ts";
import { runs } from "./support/arbitraries.ts";

const start = { appended: 10, appendedChain: `0x${"00".repeat(32)}`, firstPending: 3 };

/** `counts[i]` leaves in block i. */
const queueOf = (counts: readonly number[]) =>
  counts.flatMap((count, blockNumber) =>
    Array.from({ length: count }, (_, i) => ({ leaf: BigInt(i + 1), blockNumber })),
  );

describe("pending checkpoints", () => {
  it("start at each block change and after 64 leaves", () => {
    const counts = (perBlock: number[]) => pendingCheckpoints(start, queueOf(perBlock)).map(({ count }) => count - 10);
    expect(counts([])).to.deep.equal([]);
    expect(counts([1])).to.deep.equal([1]);
    expect(counts([2, 3])).to.deep.equal([2, 5]);
    expect(counts([64, 1])).to.deep.equal([64, 65]);
    expect(counts([65])).to.deep.equal([64, 65]);
    expect(counts([129, 63, 2])).to.deep.equal([64, 128, 129, 192, 194]);
  });

  it("are numbered in order, with the chain of all leaves up to their end", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 5 }), (counts) => {
        const queue = queueOf(counts);
        const checkpoints = pendingCheckpoints(start, queue);
        expect(checkpoints.map(({ sequence }) => sequence - 3)).to.deep.equal([...checkpoints.keys()]);
        for (const { chain, count } of checkpoints) {
          const folded = queue
            .slice(0, count - 10)
            .reduce((value, { leaf }) => foldQueue(value, leaf), start.appendedChain);
          expect(chain).to.equal(folded);
        }
        expect((checkpoints.at(-1)?.count ?? 10) - 10).to.equal(queue.length);
      }),
      runs(10),
    );
  });

  it("let an append cover up to 64 leaves", () => {
    const end = (counts: number[]) => {
      const { end: last, next } = appendEnd(start, pendingCheckpoints(start, queueOf(counts)));
      return [last && last.count - 10, next && next.count - 10];
    };
    expect(end([])).to.deep.equal([undefined, undefined]);
    expect(end([5])).to.deep.equal([5, undefined]);
    expect(end([60, 4, 1])).to.deep.equal([64, 65]);
    expect(end([60, 5])).to.deep.equal([60, 65]);
    expect(end([100])).to.deep.equal([64, 100]);
  });

  it("are passed to the contract as words, or as zeros if there is none", () => {
    const [checkpoint] = pendingCheckpoints(start, queueOf([1]));
    const chain = foldQueue(start.appendedChain, 1n);
    expect(checkpointWords(checkpoint, 77)).to.deep.equal({ sequence: "3", chain, count: "11", timestamp: "77" });
    expect(checkpointWords(undefined, 77)).to.deep.equal({
      sequence: "0",
      chain: start.appendedChain,
      count: "0",
      timestamp: "0",
    });
  });

  it("are not computed from a malformed queue", () => {
    const queue = queueOf([2]);
    expectCode("INVALID_INTEGER", () => pendingCheckpoints({ ...start, appended: -1 }, queue), /appended/);
    expectCode("INVALID_INTEGER", () => pendingCheckpoints({ ...start, firstPending: TREE_CAPACITY + 1 }, queue));
    expectCode("INVALID_HEX", () => pendingCheckpoints({ ...start, appendedChain: "0x" }, queue), /chain/);
    expectCode("INVALID_ARGUMENT", () => pendingCheckpoints(start, undefined as never), /array/);
    expectCode("INVALID_ARGUMENT", () => pendingCheckpoints(start, [undefined as never]));
    expectCode("INVALID_FIELD_ELEMENT", () => pendingCheckpoints(start, [{ leaf: -1n, blockNumber: 1 }]));
    expectCode("INVALID_INTEGER", () => checkpointWords(pendingCheckpoints(start, queue)[0], -1), /timestamp/);
  });
});
