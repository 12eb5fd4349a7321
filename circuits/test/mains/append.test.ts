import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Circuit } from "../kit/circuit.ts";
import { looseWires } from "../kit/evaluate.ts";
import { makeAppend } from "../model/append.ts";
import { Random } from "../model/random.ts";
import { Tree } from "../model/tree.ts";

const random = new Random(23);
const fields = (count: number) => Array.from({ length: count }, () => random.field());
const LAST = 2n ** 30n;

describe("note_append at full size", function () {
  slow(this, "circuits are compiled, and witnesses made");
  let circuit: Circuit;
  let witness: bigint[];

  before(async () => {
    circuit = await Circuit.load("note_append");
  });

  it("appends batches of all kinds to one tree and computes the model's roots", async () => {
    const tree = new Tree(10);
    let start = 0n;
    for (const count of [1, 64, 63, 7, 64, 1, 33]) {
      witness = await circuit.accept(makeAppend(tree, start, fields(count), random.field()));
      start += BigInt(count);
    }
  });

  it("appends at subtree boundaries and up to the end of the tree", async () => {
    for (const [start, count] of [
      [511n, 64],
      [2n ** 15n - 1n, 2],
      [2n ** 27n - 32n, 64],
      [LAST - 64n, 64],
      [LAST - 1n, 1],
    ] as const) {
      const tree = new Tree(10);
      for (let level = 0n; level < 10n; level++) {
        const back = 8n ** level;
        if (start >= back) tree.set(start - back, random.field());
      }
      await circuit.accept(makeAppend(tree, start, fields(count), random.field()));
    }
  });

  it("rejects a witness with any single wire changed", () => {
    // Siblings at the position and to its right are multiplied by 0, so they are free by design.
    const free = new Set<number>();
    const { r1cs, symbols } = circuit.build;
    const wires = new Map(Array.from(r1cs.wireLabels, (label, wire) => [label, wire]));
    const start = witness[wires.get(symbols.label("startIndex")) as number] as bigint;
    for (let level = 0; level < 10; level++)
      for (let j = Number((start >> BigInt(3 * level)) & 7n); j < 7; j++)
        free.add(wires.get(symbols.label(`leftSiblings[${level}][${j}]`)) as number);
    expect(new Set(looseWires(r1cs, witness))).to.deep.equal(free);
  });
});
