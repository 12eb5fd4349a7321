import { P } from "@sotto/certify/check/field";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { gadget, list, prepare, run } from "../kit/gadget.ts";
import { APPEND, evaluate, leftSiblings } from "../model/append.ts";
import { node } from "../model/hash.ts";
import { Random } from "../model/random.ts";
import { bitsOf, Tree } from "../model/tree.ts";

const random = new Random(6);
const fields = (count: number) => Array.from({ length: count }, () => random.field());
const shift = gadget("lib/shift.circom", "ShiftRight(9)");
const places = gadget("lib/append_children.circom", "PlacesBefore()");
const level = gadget("lib/append_children.circom", "AppendChildren(9, 7)");
const parents = gadget("lib/append_path.circom", "Parents(2)");
const path = gadget("lib/append_path.circom", "AppendPath(4)");
const polynomial = gadget("lib/polynomial.circom", "Polynomial(66)");
const EIGHT = Array.from({ length: 8 }, (_, i) => i);

describe("append gadgets against the model", function () {
  slow(this, "circuits are compiled, and witnesses made");
  before(() => prepare(shift, places, level, parents, path, polynomial));

  it("moves values to the right by 0 to 7 places", async () => {
    for (const distance of EIGHT) {
      const values = fields(9);
      const read = await run(shift, { in: values, bits: bitsOf(BigInt(distance), 3) });
      const moved = [...Array<bigint>(distance).fill(0n), ...values, ...Array<bigint>(7 - distance).fill(0n)];
      expect(list(read, "out", 16)).to.deep.equal(moved);
    }
  });

  it("marks the places before 0 to 7", async () => {
    for (const position of EIGHT) {
      const read = await run(places, { bits: bitsOf(BigInt(position), 3) });
      expect(list(read, "before", 7)).to.deep.equal(EIGHT.slice(0, 7).map((j) => (j < position ? 1n : 0n)));
    }
  });

  it("places nine nodes after the left siblings, for each position", async () => {
    for (const position of EIGHT) {
      const [left, newNodes, oldNode] = [fields(7), fields(9), random.field()];
      const read = await run(level, { bits: bitsOf(BigInt(position), 3), left, oldNode, newNodes });
      const kept = left.slice(0, position);
      const fill = (nodes: bigint[], count: number) => [...nodes, ...Array<bigint>(count - nodes.length).fill(7n)];
      expect(list(read, "oldChildren", 8)).to.deep.equal(fill([...kept, oldNode], 8));
      expect(list(read, "newChildren", 16)).to.deep.equal(fill([...kept, ...newNodes], 16));
    }
  });

  it("hashes groups of eight", async () => {
    const children = fields(16);
    const read = await run(parents, { children });
    expect(list(read, "nodes", 2)).to.deep.equal([node(children.slice(0, 8)), node(children.slice(8))]);
  });

  it("computes the old and the new root for every kind of boundary, up to the end of the tree", async () => {
    const starts = [0n, 1n, 7n, 8n, 9n, 63n, 64n, 65n, 504n, 511n, 512n, 3967n, 4096n - 64n];
    for (const start of starts) {
      const tree = new Tree(4);
      // The tree has neighbors on every level: the previous leaf, and one leaf in each earlier subtree.
      for (const back of [1n, 8n, 64n, 512n]) if (start >= back) tree.set(start - back, random.field());
      const [oldRoot, siblings, leaves] = [tree.root, leftSiblings(tree, start), fields(APPEND)];
      for (const [i, leaf] of leaves.entries()) tree.set(start + BigInt(i), leaf);
      const read = await run(path, { startBits: bitsOf(start, 12), leftSiblings: siblings, leaves });
      expect([read("oldRoot"), read("newRoot")], `start ${start}`).to.deep.equal([oldRoot, tree.root]);
    }
  });

  it("evaluates a polynomial at edge values and at random points", async () => {
    for (const at of [0n, 1n, P - 1n, random.field()]) {
      const coefficients = fields(66);
      expect((await run(polynomial, { coefficients, at }))("value")).to.equal(evaluate(coefficients, at));
    }
  });
});
