import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { EDGES, gadget, list, prepare, run } from "../kit/gadget.ts";
import { commitment, DOMAIN, node, nullifier, ownerTag, poseidon } from "../model/hash.ts";
import { Random } from "../model/random.ts";

const random = new Random(1);
const HASHES = [
  [1, DOMAIN.ownerTag],
  [2, DOMAIN.senderCommitment],
  [3, DOMAIN.note],
  [3, DOMAIN.nullifier],
  [4, DOMAIN.recipient],
] as const;
const hash = (n: number, domain: bigint) => gadget("lib/hash.circom", `Hash(${n}, ${domain})`);
const treeNode = gadget("lib/merkle.circom", "TreeNode()");
const tagMain = gadget("lib/note.circom", "OwnerTag()");
const noteMain = gadget("lib/note.circom", "NoteCommitment()");
const nullifierMain = gadget("lib/nullifier.circom", "Nullifier()");

describe("hashes against circomlibjs", function () {
  slow(this, "circuits are compiled, and witnesses made");
  before(() => prepare(...HASHES.map(([n, domain]) => hash(n, domain)), treeNode, tagMain, noteMain, nullifierMain));

  for (const [n, domain] of HASHES)
    it(`hashes ${n} values in domain ${domain}`, async () => {
      const rows = [
        ...EDGES.map((edge) => Array<bigint>(n).fill(edge)),
        Array.from({ length: n }, () => random.field()),
      ];
      for (const inputs of rows)
        expect((await run(hash(n, domain), { inputs }))("out")).to.equal(poseidon(inputs, domain));
    });

  it("computes a tree node as the permutation of the eight children plus the first child", async () => {
    const rows = [...EDGES.map((edge) => Array<bigint>(8).fill(edge)), Array.from({ length: 8 }, () => random.field())];
    for (const children of rows) expect((await run(treeNode, { children }))("node")).to.equal(node(children));
  });

  it("computes owner tag, commitment and nullifier", async () => {
    for (const value of [...EDGES, random.field()]) {
      const [a, b] = [random.field(), random.field()];
      const tag = await run(tagMain, { spendingKey: value });
      expect(tag("tag")).to.equal(ownerTag(value));
      const note = await run(noteMain, { amount: value, ownerTag: a, blinding: b });
      expect(note("commitment")).to.equal(commitment(value, a, b));
      const spent = await run(nullifierMain, {
        spendingKey: a,
        commitment: b,
        leafIndex: value,
      });
      expect(spent("nullifier")).to.equal(nullifier(a, b, value));
    }
  });

  it("has the empty subtrees of the model as constants", async () => {
    const main = `pragma circom 2.2.0;
include "lib/empty_subtree.circom";
template Empty() {
    signal input unused;
    signal output roots[10];
    for (var level = 0; level < 10; level++) { roots[level] <== EMPTY_SUBTREE(level) + 0 * unused; }
}
component main = Empty();`;
    const expected = [0n];
    while (expected.length < 10) expected.push(node(Array<bigint>(8).fill(expected.at(-1) as bigint)));
    expect(list(await run(main, { unused: 0 }), "roots", 10)).to.deep.equal(expected);
  });
});
