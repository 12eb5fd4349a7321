import { createHash } from "node:crypto";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import {
  emptyRoots,
  FIELD_MODULUS,
  hashNode,
  NoteTree,
  type PermuteMany,
  TREE_CAPACITY,
  TREE_DEPTH,
} from "../src/index.ts";
import { permuteMany } from "../src/poseidon/permutation.ts";
import { runs } from "./support/arbitraries.ts";
import * as oracle from "./support/oracle.ts";
import { vectors } from "./support/vectors.ts";

const leavesUpTo = (size: number) => Array.from({ length: size }, (_, i) => BigInt(i + 1));

/** The root of a path, computed as in the circuits. */
function rootOf(
  leaf: bigint,
  { leafIndex, pathChildren }: { leafIndex: number; pathChildren: readonly (readonly bigint[])[] },
) {
  let [node, index] = [leaf, leafIndex];
  for (const children of pathChildren) {
    expect(children).to.have.length(8);
    expect(children[index % 8]).to.equal(node);
    node = hashNode(children);
    index = Math.floor(index / 8);
  }
  return node;
}

const sizes = fc.nat({ max: 80 });

describe("NoteTree", () => {
  it("matches the oracle's roots", () => {
    const { roots } = vectors<{ roots: { size: number; root: bigint }[] }>("tree");
    expect(roots.length).to.be.greaterThan(5);
    for (const { size, root } of roots) expect(new NoteTree(leavesUpTo(size)).root).to.equal(root);
    expect(emptyRoots()[TREE_DEPTH]).to.equal(roots[0]!.root);
  });

  it("has a root that does not depend on batching and matches the definition", () => {
    fc.assert(
      fc.property(fc.array(sizes, { maxLength: 5 }), (batches) => {
        const tree = new NoteTree();
        const all = leavesUpTo(batches.reduce((sum, size) => sum + size, 0));
        let start = 0;
        for (const size of batches) {
          const batch = all.slice(start, start + size);
          const expected = tree.rootAfter(batch);
          tree.append(batch.length === 1 ? batch[0]! : batch);
          expect(tree.root).to.equal(expected);
          start += size;
        }
        expect(tree.size).to.equal(all.length);
        expect(tree.leaves()).to.deep.equal(all);
        expect(tree.root).to.equal(oracle.treeRoot(all));
      }),
      runs(4),
    );
  });

  it("returns paths to the root, at the first and last leaf and across subtree boundaries", () => {
    const tree = new NoteTree(leavesUpTo(600));
    for (const index of [0, 1, 7, 8, 63, 64, 511, 512, 599]) {
      const path = tree.path(index);
      expect(path.pathChildren).to.have.length(TREE_DEPTH);
      expect(rootOf(tree.leaf(index), path)).to.equal(tree.root);
    }
  });

  it("rolls appends back", () => {
    fc.assert(
      fc.property(fc.nat({ max: 200 }), fc.nat({ max: 200 }), (kept, undone) => {
        const tree = new NoteTree(leavesUpTo(kept + undone));
        tree.truncate(kept);
        expect(tree.size).to.equal(kept);
        expect(tree.root).to.equal(new NoteTree(leavesUpTo(kept)).root);
        tree.append([99n]);
        expect(tree.root).to.equal(new NoteTree([...leavesUpTo(kept), 99n]).root);
      }),
      runs(8),
    );
  });

  it("survives a round trip through the store and accepts more leaves", () => {
    for (const size of [0, 1, 8, 65, 700]) {
      const tree = new NoteTree(leavesUpTo(size).map((leaf) => FIELD_MODULUS - leaf));
      const stored = tree.serialize();
      const padded = new Uint8Array(stored.length + 3);
      padded.set(stored, 3);
      const read = NoteTree.deserialize(padded.subarray(3));
      expect(read.root).to.equal(tree.root);
      expect(read.leaves()).to.deep.equal(tree.leaves());
      for (const grown of [tree, read]) grown.append(leavesUpTo(70));
      expect(read.root).to.equal(tree.root);
    }
  });

  it("rejects stored state with any bit flipped", () => {
    const stored = new NoteTree(leavesUpTo(20)).serialize();
    fc.assert(
      fc.property(fc.nat({ max: stored.length - 1 }), fc.nat({ max: 7 }), (at, bit) => {
        const damaged = Uint8Array.from(stored);
        damaged[at]! ^= 1 << bit;
        expectCode("INVALID_TREE_STATE", () => NoteTree.deserialize(damaged));
      }),
      runs(100),
    );
    const short = () => NoteTree.deserialize(stored.subarray(0, -1));
    expectCode("INVALID_TREE_STATE", short, /a tree of 20 leaves has \d+ bytes, got \d+/);
    for (const bad of [stored.subarray(1), stored.subarray(0, -1), new Uint8Array(0), [], undefined, "x"]) {
      expectCode("INVALID_TREE_STATE", () => NoteTree.deserialize(bad as never));
    }
  });

  it("rejects nodes that are not field elements, even with a valid checksum", () => {
    const state = new NoteTree([1n]).serialize();
    const node = state.subarray(20, 52);
    for (const [value, reason] of [
      [FIELD_MODULUS, /below p/],
      [1n << 255n, /below p/],
    ] as const) {
      node.set(Buffer.from(value.toString(16).padStart(64, "0"), "hex"));
      state.set(createHash("sha256").update(state.subarray(0, -32)).digest(), state.length - 32);
      expectCode("INVALID_TREE_STATE", () => NoteTree.deserialize(state), reason);
    }
  });

  it("rejects leaves that are 0 or not field elements, and does not change", () => {
    const tree = new NoteTree(leavesUpTo(3));
    const { root } = tree;
    expectCode("INVALID_LEAF", () => tree.append([5n, 0n]), /must not be 0/);
    expectCode("INVALID_FIELD_ELEMENT", () => tree.append([5n, FIELD_MODULUS]));
    expectCode("INVALID_FIELD_ELEMENT", () => tree.append(["5" as never]));
    expectCode("INVALID_LEAF", () => tree.append(5 as never));
    expectCode("INVALID_LEAF", () => tree.rootAfter([0n]));
    expect(tree.size).to.equal(3);
    expect(tree.root).to.equal(root);
  });

  it("rejects indices and sizes beyond its leaves", () => {
    const tree = new NoteTree(leavesUpTo(3));
    expectCode("LEAF_NOT_FOUND", () => tree.path(3), /3 leaves/);
    expectCode("LEAF_NOT_FOUND", () => tree.leaf(3));
    expectCode("LEAF_NOT_FOUND", () => tree.truncate(4));
    for (const index of [-1, 0.5, TREE_CAPACITY, 1n, undefined]) {
      expectCode("INVALID_INTEGER", () => tree.path(index as never));
      expectCode("INVALID_INTEGER", () => tree.slotChildren(index as never));
    }
    expectCode("INVALID_INTEGER", () => tree.truncate(-1));
  });

  it("hashes whole levels at once with a given permutation", () => {
    const tree = new NoteTree(leavesUpTo(5));
    const counts: number[] = [];
    tree.append(leavesUpTo(600), (states, outputs) => {
      counts.push(states.length);
      return permuteMany(states, outputs);
    });
    expect(counts).to.deep.equal([76, 10, 2, 1, 1, 1, 1, 1, 1, 1]);
    expect(tree.root).to.equal(new NoteTree([...leavesUpTo(5), ...leavesUpTo(600)]).root);
  });

  it("stays unchanged if a given permutation fails, at any level", () => {
    for (const size of [0, 5, 64]) {
      const tree = new NoteTree(leavesUpTo(size));
      const before = tree.serialize();
      for (let allowed = 0; allowed < TREE_DEPTH; allowed++) {
        let calls = 0;
        const failing: PermuteMany = (states, outputs) => {
          if (calls++ === allowed) throw new Error("no memory");
          return permuteMany(states, outputs);
        };
        expect(() => tree.append(leavesUpTo(70), failing)).to.throw("no memory");
        expect(tree.serialize()).to.deep.equal(before);
      }
    }
  });
});
