import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { FIELD_MODULUS, NoteTree, prepareAppend, TREE_CAPACITY } from "../src/index.ts";

const deployment = { chainId: 31337n, pool: "0x5fbdb2315678afecb367f032d93f642f64180aa3" };

describe("prepareAppend", () => {
  it("continues at the end of the tree, with the left siblings", () => {
    for (const size of [0, 1, 7, 8, 63, 64, 65]) {
      const before = new NoteTree(Array.from({ length: size }, (_, i) => BigInt(i + 1)));
      const leaves = Array.from({ length: 64 }, (_, i) => BigInt(i + 1000));
      const prepared = prepareAppend({ ...deployment, tree: before, leaves });
      expect(before.size).to.equal(size);
      const siblings = prepared.input["leftSiblings"] as readonly (readonly bigint[])[];
      expect(siblings.map((level) => level.length)).to.deep.equal(new Array(10).fill(7));
      for (const [level, row] of siblings.entries()) {
        const position = Math.floor(size / 8 ** level) % 8;
        expect(row.slice(position), "places from the path on").to.deep.equal(new Array(7 - position).fill(0n));
        expect(row.slice(0, position)).to.not.include(0n);
      }
      before.append(leaves);
      expect(prepared.newRoot).to.equal(before.root);
      expect(prepared.startIndex).to.equal(size);
      expect(prepared.publicSignals[0]).to.equal(before.root);
    }
  });

  it("rejects a full tree and invalid trees", () => {
    const full = new NoteTree([1n]);
    Object.defineProperty(full, "size", { value: TREE_CAPACITY });
    expectCode("TREE_FULL", () => prepareAppend({ ...deployment, tree: full, leaves: [1n] }), /no room/);
    expectCode("TREE_FULL", () => full.append(1n), /room for 0 more leaves, but 1 were given/);
    for (const tree of [undefined, {}, { root: 1n, size: 0 }]) {
      expectCode(
        "INVALID_ARGUMENT",
        () => prepareAppend({ ...deployment, tree: tree as never, leaves: [1n] }),
        /NoteTree/,
      );
    }
  });

  it("rejects zero leaves, too many leaves and empty leaves, and does not change the tree", () => {
    const tree = new NoteTree([1n, 2n, 3n]);
    const { root } = tree;
    const refused = (leaves: unknown) => () => prepareAppend({ ...deployment, tree, leaves: leaves as never });
    for (const leaves of [[], new Array(65).fill(1n), [0n], 5n, undefined]) expectCode("INVALID_LEAF", refused(leaves));
    expectCode("INVALID_FIELD_ELEMENT", refused([FIELD_MODULUS]));
    expectCode("INVALID_ADDRESS", () => prepareAppend({ ...deployment, pool: "", tree, leaves: [1n] }));
    expect(tree.root).to.equal(root);
    expect(tree.size).to.equal(3);
  });
});
