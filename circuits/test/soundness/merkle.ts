import type { Attack } from "../kit/attack.ts";
import { commitment, nullifier, ownerTag } from "../model/hash.ts";
import { bitsOf, Tree } from "../model/tree.ts";
import { on, swap } from "./define.ts";

const CHILDREN = [10n, 11n, 12n, 13n, 14n, 15n, 16n, 17n];
/** Claims that 99 is child 5. */
const child = on("lib/merkle.circom", "ChildAt()", {
  inputs: () => ({ children: CHILDREN, bits: bitsOf(5n, 3), current: 99 }),
  harm: (read) => read("current") !== CHILDREN[5],
});

const tree = new Tree(2);
for (let i = 0n; i < 64n; i++) tree.set(i, 100n + i);
/** Claims that 99 is leaf 0 of the tree. */
const path = on("lib/merkle.circom", "MerklePath(2)", {
  inputs: () => ({ leaf: 99, indexBits: bitsOf(0n, 6), pathChildren: tree.path(0n) }),
  harm: (read) => read("root") === tree.root,
});
/** Claims another root for leaf 0, which is in the tree. */
const root = on("lib/merkle.circom", "MerklePath(1)", {
  inputs: () => ({ leaf: 100, indexBits: [0, 0, 0], pathChildren: [tree.children(1, 0n)] }),
  harm: (read) => read("root") !== tree.children(2, 0n)[0],
});

const KEY = 5n;
const AMOUNT = 1000n;
const BLINDING = 6n;
const PLACE = 3n;
const mine = commitment(AMOUNT, ownerTag(KEY), BLINDING);
const victims = commitment(1_000_000n, ownerTag(77n), 8n);
const pool = new Tree(1);
pool.set(PLACE, mine);
pool.set(4n, victims);
const own = (place: bigint, changes: object = {}) => ({
  spendingKey: KEY,
  amount: AMOUNT,
  blinding: BLINDING,
  leafIndex: place,
  pathChildren: pool.path(place % 8n),
  ...changes,
});
const spent = on("lib/spent_note.circom", "SpentNote(1)", {
  inputs: () => own(PLACE),
  harm: (read) => read("nullifier") !== nullifier(KEY, mine, PLACE),
});

export const merkleAttacks: readonly Attack[] = [
  child("merkle.choose_of_eight", "a node that is not a child, selected at the first layer", {
    edits: [
      {
        find: "fours[i] <-- children[2 * i] + bits[0] * (children[2 * i + 1] - children[2 * i])",
        replace: "fours[i] <-- current",
      },
    ],
  }),
  child("merkle.choose_of_four", "a node that is not a child, selected at the second layer", {
    edits: [
      {
        find: "twos[i] <-- fours[2 * i] + bits[1] * (fours[2 * i + 1] - fours[2 * i])",
        replace: "twos[i] <-- current",
      },
    ],
  }),
  child("merkle.child_selected", "a node that is not a child, selected at the third layer", {}),
  child("merkle.child_selected", "the right child at the wrong index", {
    inputs: () => ({ children: CHILDREN, bits: bitsOf(5n, 3), current: 16 }),
  }),
  path("merkle.path_leaf", "a path that starts at another leaf", swap("nodes[0] <-- leaf", "nodes[0] <-- 100")),
  path("merkle.path_child", "a leaf that is not a child of its parent", {
    edits: [
      {
        find: "cut0[level].children <-- pathChildren[level];",
        replace: "for (var j = 0; j < 8; j++) { cut0[level].children[j] <-- nodes[level]; }",
      },
    ],
  }),
  root(
    "merkle.path_parent",
    "a second root for the same leaves, through a node that is not the parent",
    swap("nodes[level + 1] <-- cut0[level].node", "nodes[level + 1] <-- cut0[level].node + 1"),
  ),
  root(
    "merkle.path_root",
    "a second root for the same leaves, instead of the path's last node",
    swap("root <-- nodes[depth]", "root <-- nodes[depth] + 1"),
  ),
  spent("spent_note.owner", "the note of another owner, without the key", {
    ...swap("ownerTag <-- cut0.tag", `ownerTag <-- ${ownerTag(77n)}`),
    inputs: () => own(4n, { amount: 1_000_000n, blinding: 8n }),
    harm: (read) => read("root") === pool.root && read("ownerTag") !== ownerTag(read("spendingKey")),
  }),
  spent("spent_note.commitment", "a note of another amount", {
    ...swap("commitment <-- cut0.commitment", `commitment <-- ${mine}`),
    inputs: () => own(PLACE, { amount: AMOUNT + 1n }),
    harm: (read) => read("root") === pool.root && read("amount") !== AMOUNT,
  }),
  spent("spent_note.commitment", "an empty leaf as a note", {
    ...swap("commitment <-- cut0.commitment", "commitment <-- 0"),
    inputs: () => own(0n),
    harm: (read) => read("root") === pool.root && read("commitment") === 0n,
  }),
  spent("spent_note.index", "an index beyond the tree, which gives a note a second nullifier", {
    ...swap("cut0.value <-- leafIndex", "cut0.value <-- leafIndex % 8"),
    inputs: () => own(PLACE + 8n),
    harm: (read) => read("root") === pool.root && read("nullifier") !== nullifier(KEY, mine, PLACE),
  }),
  spent("spent_note.root", "a note that is not in the tree", {
    ...swap("root <-- cut0.root", `root <-- ${pool.root}`),
    inputs: () => {
      const invented = new Tree(1);
      invented.set(PLACE, commitment(2n ** 63n, ownerTag(KEY), BLINDING));
      return own(PLACE, { amount: 2n ** 63n, pathChildren: invented.path(PLACE) });
    },
    harm: (read) => read("root") === pool.root && read("amount") !== AMOUNT,
  }),
  spent(
    "spent_note.nullifier",
    "a second nullifier for a note",
    swap("nullifier <-- cut0.nullifier", "nullifier <-- cut0.nullifier + 1"),
  ),
];
