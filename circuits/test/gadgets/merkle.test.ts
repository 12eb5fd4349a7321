import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { gadget, prepare, run } from "../kit/gadget.ts";
import { Random } from "../model/random.ts";
import { bitsOf, Tree } from "../model/tree.ts";

const random = new Random(2);
const path = (depth: number) => gadget("lib/merkle.circom", `MerklePath(${depth})`);

async function rootOf(tree: Tree, leafIndex: bigint, leaf: bigint): Promise<bigint> {
  const read = await run(path(tree.depth), {
    leaf,
    indexBits: bitsOf(leafIndex, 3 * tree.depth),
    pathChildren: tree.path(leafIndex),
  });
  return read("root");
}

describe("Merkle path against the model", function () {
  slow(this, "circuits are compiled, and witnesses made");
  before(() => prepare(path(1), path(2), path(10)));

  it("proves every leaf of a full tree of depth 1", async () => {
    const tree = new Tree(1);
    const leaves = Array.from({ length: 8 }, () => random.field());
    for (const [i, leaf] of leaves.entries()) tree.set(BigInt(i), leaf);
    for (const [i, leaf] of leaves.entries()) expect(await rootOf(tree, BigInt(i), leaf)).to.equal(tree.root);
  });

  it("proves the first and the last leaf and both sides of every subtree boundary, at depth 10", async () => {
    const tree = new Tree(10);
    const boundaries = [3, 6, 9, 15, 27, 29].flatMap((bit) => [2n ** BigInt(bit) - 1n, 2n ** BigInt(bit)]);
    const places = [0n, 1n, 7n, ...boundaries, 2n ** 30n - 2n, 2n ** 30n - 1n, random.below(2n ** 30n)];
    const leaves = new Map(places.map((place) => [place, random.field()]));
    for (const [place, leaf] of leaves) tree.set(place, leaf);
    for (const [place, leaf] of leaves) expect(await rootOf(tree, place, leaf), `leaf ${place}`).to.equal(tree.root);
  });

  it("proves an empty leaf in the empty tree", async () => {
    const tree = new Tree(2);
    expect(await rootOf(tree, 63n, 0n)).to.equal(tree.empty[2]);
  });
});
