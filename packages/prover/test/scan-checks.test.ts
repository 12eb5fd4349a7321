import { multiplyXs, poseidonEx, SUBGROUP_ORDER, TREE_ARITY } from "@sotto/protocol";
import { randomBelow } from "@sotto/test-kit/random-below";
import { assert } from "chai";
import { createScanKernel, createTreeKernel } from "../src/scan/kernels.ts";
import { XMultiplier } from "../src/scan/multiply-xs.ts";
import { Permuter } from "../src/scan/permuter.ts";

const COUNT = 20;
const KEYS = [0x5077n, 0x5079n];
const xs = Array.from({ length: COUNT }, () => randomBelow(SUBGROUP_ORDER));
const statesOf = (width: number) =>
  Array.from({ length: COUNT }, () => Array.from({ length: width }, (_, i) => BigInt(i)));
const permuted = (states: readonly (readonly bigint[])[], outputs: number) =>
  states.map(([domain, ...inputs]) => poseidonEx(inputs, outputs, domain as bigint));

/** Runs an action while a method of the kernel returns `change` of its results, and returns how often it was called. */
async function withFault<Result>(
  prototype: XMultiplier | Permuter,
  method: "multiply" | "permute",
  change: (result: Result) => Result,
  run: () => Promise<void>,
): Promise<number> {
  const methods = prototype as unknown as Record<string, (...given: unknown[]) => Result[]>;
  const sound = methods[method]!;
  let calls = 0;
  methods[method] = function (this: unknown, ...given: unknown[]) {
    calls += 1;
    return sound.apply(this, given).map(change);
  };
  try {
    await run();
  } finally {
    methods[method] = sound;
  }
  return calls;
}

const wrongLane = (lanes: bigint[]): bigint[] => lanes.with(0, lanes[0]! + 1n);
const same = <Result>(result: Result): Result => result;

describe("a kernel that computes wrong results", () => {
  it("is found by the first scan, which bigints then compute, and is not used again", async () => {
    const calls = await withFault<(bigint | null)[]>(
      XMultiplier.prototype,
      "multiply",
      (row) => row.with(1, row[1]! ^ 1n),
      async () => {
        const { multiplyXs: fast } = (await createScanKernel())!;
        for (let scan = 0; scan < 2; scan += 1) assert.deepEqual(fast(xs, KEYS), multiplyXs(xs, KEYS));
      },
    );
    assert.equal(calls, 1);
  });

  it("is found in the permutation of a scan, and in that of the tree", async () => {
    for (const width of [3, TREE_ARITY]) {
      const states = statesOf(width);
      const calls = await withFault(Permuter.prototype, "permute", wrongLane, async () => {
        const permute = width === 3 ? (await createScanKernel())!.permuteMany : (await createTreeKernel())!;
        for (let scan = 0; scan < 2; scan += 1) assert.deepEqual(permute(states, 1), permuted(states, 1));
      });
      assert.equal(calls, 1);
    }
  });

  it("is a difference of one result only, so a sound kernel computes every scan (control)", async () => {
    const calls = await withFault<(bigint | null)[]>(XMultiplier.prototype, "multiply", same, async () => {
      const { multiplyXs: fast } = (await createScanKernel())!;
      for (let scan = 0; scan < 3; scan += 1) assert.deepEqual(fast(xs, KEYS), multiplyXs(xs, KEYS));
      assert.deepEqual(fast([], KEYS), []);
    });
    assert.equal(calls, 4);
    const states = statesOf(TREE_ARITY);
    const permutations = await withFault(Permuter.prototype, "permute", same<bigint[]>, async () => {
      const permute = (await createTreeKernel())!;
      for (let scan = 0; scan < 3; scan += 1) assert.deepEqual(permute(states, 1), permuted(states, 1));
    });
    assert.equal(permutations, 3);
  });
});
