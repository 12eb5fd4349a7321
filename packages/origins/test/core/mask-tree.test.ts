import { randomInt } from "node:crypto";
import { NoteTree, type PermuteMany, randomField } from "@sotto/protocol";
import { permuteMany } from "@sotto/protocol/extend";
import { createTreeKernel } from "@sotto/prover/scan";
import { assert } from "chai";
import {
  assertBitmap,
  CHUNK_BYTES,
  CHUNK_LEAVES,
  countShared,
  MaskTree,
  rootOfChunks,
  setBit,
} from "../../src/index.ts";

describe("the mask tree", () => {
  const leaves = Array.from({ length: 200 }, () => randomField());
  const leafAt = (index: number) => leaves[index]!;

  it("of all leaves is the pool's tree", () => {
    const mask = new MaskTree(leafAt);
    const tree = new NoteTree();
    assert.equal(mask.root, tree.root, "of no leaf");
    for (const [index, leaf] of leaves.entries()) {
      assert.isTrue(mask.set(index, true));
      tree.append(leaf);
      if (index % 37 !== 0 && index !== leaves.length - 1) continue;
      assert.equal(mask.root, tree.root);
      assert.deepEqual(mask.path(index), tree.path(index));
    }
    assert.isFalse(mask.set(3, true), "it is in the set");
  });

  it("has zeros at all other leaves, and each path leads to the root", () => {
    const set = new Set(Array.from({ length: 40 }, () => randomInt(leaves.length)));
    const values = leaves.map((leaf, i) => (set.has(i) ? leaf : 0n));
    const whole = new MaskTree((index) => values[index]!);
    for (const index of leaves.keys()) whole.set(index, true);
    const mask = new MaskTree(leafAt);
    for (const index of set) mask.set(index, true);
    assert.equal(mask.root, whole.root);
    for (const index of [...set, 0, leaves.length - 1]) {
      const path = mask.path(index);
      assert.deepEqual(path, whole.path(index));
      assert.equal(path.pathChildren[0]![index % 8], values[index]);
    }
    assert.notEqual(mask.root, new NoteTree(leaves).root);
  });

  it("follows removals and truncation", () => {
    const mask = new MaskTree(leafAt);
    const roots: bigint[] = [];
    for (const index of [0, 9, 77, 150]) {
      roots.push(mask.root);
      mask.set(index, true);
    }
    mask.truncate(150);
    assert.equal(mask.root, roots.at(-1));
    assert.isFalse(mask.has(150));
    mask.set(77, false);
    assert.equal(mask.root, roots[2]);
    mask.truncate(0);
    assert.equal(mask.root, roots[0]);
  });

  it("covers only the leaves that the pool's tree has", () => {
    const far = (index: number) => BigInt(index + 1);
    for (const size of [0, 1, 7, 8, 9, 63, CHUNK_LEAVES - 1, CHUNK_LEAVES, CHUNK_LEAVES + 9]) {
      const [before, all] = [new MaskTree(far), new MaskTree(far)];
      for (const index of [0, 6, 7, 8, 62, 63, CHUNK_LEAVES - 1, CHUNK_LEAVES, CHUNK_LEAVES + 8]) {
        all.set(index, true);
        if (index < size) before.set(index, true);
      }
      const root = all.root;
      const covered = all.upTo(size);
      assert.equal(covered.root, before.root, `${size} leaves`);
      assert.deepEqual(covered.chunks(size), before.chunks(size));
      assert.equal(all.root, root, "the tree itself stays");
      assert.equal(all.upTo(2 * CHUNK_LEAVES), all);
    }
  });

  it("is the same over several chunks, with the prover's kernel, and from published chunks", async () => {
    const size = 2 * CHUNK_LEAVES + 5;
    const far = (index: number) => BigInt(index + 1);
    const mask = new MaskTree(far);
    const members = [0, 1, CHUNK_LEAVES - 1, CHUNK_LEAVES, CHUNK_LEAVES + 4_000, 2 * CHUNK_LEAVES + 4];
    for (const index of members) mask.set(index, true);
    const kernel = await createTreeKernel();
    const fast = new MaskTree(far, kernel);
    for (const index of members) fast.set(index, true);
    const chunks = mask.chunks(size);
    assert.lengthOf(chunks, 3);
    assert.deepEqual(fast.chunks(size), chunks);
    assert.equal(fast.root, mask.root);
    assert.equal(rootOfChunks(chunks.map(({ root }) => root)), mask.root);
    const copy = new MaskTree(far);
    for (const [index, { bitmap, root }] of chunks.entries()) copy.replace(index, bitmap, root);
    assert.equal(copy.root, mask.root);
    assert.deepEqual(copy.path(CHUNK_LEAVES), mask.path(CHUNK_LEAVES));
    assert.equal(countShared([chunks[1]!.bitmap]), 2);
    assert.equal(countShared([chunks[0]!.bitmap, chunks[1]!.bitmap]), 1, "leaf 0 of each");
  });

  it("hashes only above the leaves that changed, and all again after an error", () => {
    let failing = false;
    let hashed = 0;
    const permutation: PermuteMany = (states, outputs) => {
      if (failing) throw new Error("no kernel");
      hashed += states.length;
      return permuteMany(states, outputs);
    };
    const far = (index: number) => BigInt(index + 1);
    const [mask, whole] = [new MaskTree(far, permutation), new MaskTree(far)];
    const members = Array.from({ length: 300 }, (_, i) => 13 * i);
    for (const index of members) for (const tree of [mask, whole]) tree.set(index, true);
    assert.equal(mask.root, whole.root);
    const before = hashed;
    for (const tree of [mask, whole]) tree.set(13, false);
    assert.equal(mask.root, whole.root);
    // Its group of eight has zeros only: four levels of the chunk are left, and five above it.
    assert.equal(hashed - before, 9);
    for (const tree of [mask, whole]) tree.set(13, true);
    failing = true;
    assert.throws(() => mask.root, "no kernel");
    failing = false;
    for (const tree of [mask, whole]) tree.set(26, false);
    assert.equal(mask.root, whole.root);
    const bitmap = mask.chunks(CHUNK_LEAVES)[0]!.bitmap;
    const copy = new MaskTree(far);
    copy.replace(0, bitmap);
    assert.equal(copy.root, whole.root);
    setBit(bitmap, 26, true);
    setBit(bitmap, 39, false);
    copy.replace(0, bitmap);
    for (const [index, value] of [
      [26, true],
      [39, false],
    ] as const)
      whole.set(index, value);
    assert.equal(copy.root, whole.root);
    assert.isFalse(copy.has(39));
    assert.equal(copy.path(2 ** 30 - 1).pathChildren[0]![0], 0n, "of a chunk that does not exist");
  });

  it("refuses a bitmap of another size, or with a bit for a leaf that does not exist", () => {
    const bitmap = new Uint8Array(CHUNK_BYTES);
    setBit(bitmap, 4, true);
    assertBitmap(bitmap, 1, CHUNK_LEAVES + 5);
    assertBitmap(bitmap, 0, CHUNK_LEAVES + 5);
    assert.throws(() => assertBitmap(bitmap, 1, CHUNK_LEAVES + 4), "leaf 32772");
    assert.throws(() => assertBitmap(bitmap.subarray(1), 0, CHUNK_LEAVES), "4096 bytes");
    assert.throws(() => assertBitmap(new Uint8Array(CHUNK_BYTES + 1), 0, CHUNK_LEAVES), "4096 bytes");
  });
});
