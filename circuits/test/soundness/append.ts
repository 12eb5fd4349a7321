import { inverse, mod } from "@sotto/certify/check/field";
import type { Attack } from "../kit/attack.ts";
import { APPEND, evaluate, leftSiblings, makeAppend, treeOf } from "../model/append.ts";
import { node } from "../model/hash.ts";
import { bitsOf, Tree } from "../model/tree.ts";
import { on, swap } from "./define.ts";

const shift = on("lib/shift.circom", "ShiftRight(2)", {
  inputs: () => ({ in: [21, 22], bits: bitsOf(5n, 3) }),
  harm: (read) => [0, 0, 0, 0, 0, 21, 22, 0, 0].some((value, i) => read(`out[${i}]`) !== BigInt(value)),
});

const places = on("lib/append_children.circom", "PlacesBefore()", {
  inputs: () => ({ bits: bitsOf(5n, 3) }),
  harm: (read) => [1n, 1n, 1n, 1n, 1n, 0n, 0n].some((value, j) => read(`before[${j}]`) !== value),
});

const LEFT = [31n, 32n, 33n, 34n, 35n, 36n, 37n];
const level = on("lib/append_children.circom", "AppendChildren(2, 7)", {
  inputs: () => ({ bits: bitsOf(3n, 3), left: LEFT, oldNode: 41, newNodes: [51, 52] }),
  harm: (read) => {
    const before = [31n, 32n, 33n, 41n, 7n, 7n, 7n, 7n];
    const after = [31n, 32n, 33n, 51n, 52n, ...Array<bigint>(11).fill(7n)];
    return (
      before.some((value, j) => read(`oldChildren[${j}]`) !== value) ||
      after.some((value, j) => read(`newChildren[${j}]`) !== value)
    );
  },
});

const GROUPS = Array.from({ length: 16 }, (_, i) => BigInt(i));
const parents = on("lib/append_path.circom", "Parents(2)", {
  inputs: () => ({ children: GROUPS }),
  harm: (read) => read("nodes[1]") !== node(GROUPS.slice(8)),
});

const START = 5n;
const LEAVES = Array.from({ length: APPEND }, (_, i) => 2001n + BigInt(i));
const before = treeOf(4, Number(START));
const after = treeOf(4, Number(START));
for (const [i, leaf] of LEAVES.entries()) after.set(START + BigInt(i), leaf);
const path = on("lib/append_path.circom", "AppendPath(4)", {
  inputs: () => ({ startBits: bitsOf(START, 12), leftSiblings: leftSiblings(before, START), leaves: LEAVES }),
  // The pool's tree grows by leaves other than the claimed ones.
  harm: (read) => read("oldRoot") === before.root && read("newRoot") !== after.root,
});
/** Puts a wrong node into the new tree, one that is not the hash of the leaves appended below it. */
const smuggle = (target: string, list: string, count: number) =>
  swap(`${target} <-- ${list};`, `for (var s = 0; s < ${count}; s++) { ${target}[s] <-- s == 7 ? 666 : ${list}[s]; }`);

export const appendAttacks: readonly Attack[] = [
  shift("shift.start", "values other than the inputs", swap("shifted[0][i] <-- in[i]", "shifted[0][i] <-- in[i] + 1")),
  shift(
    "shift.moving",
    "a value that moves only in part",
    swap("<-- bits[b] * shifted[b][i]", "<-- (b == 1 ? 3 : bits[b]) * shifted[b][i]"),
  ),
  shift("shift.moved", "values added during the shift", swap("<-- stays + arrives", "<-- stays + arrives + 1")),
  shift(
    "shift.end",
    "a result that is not the last step's",
    swap("out <-- shifted[3];", "for (var s = 0; s < n + 7; s++) { out[s] <-- shifted[3][s] + 1; }"),
  ),
  places("places_before.low", "a position below itself", swap("or <-- bits[0] + bits[1] - and", "or <-- 0")),
  places(
    "places_before.upper",
    "a place after the position",
    swap("before[5] <-- bits[2] * bits[1]", "before[5] <-- 1"),
  ),
  places(
    "places_before.lower",
    "a place before the position that is marked as free",
    swap("before[0] <-- bits[2] + or - before[4]", "before[0] <-- 0"),
  ),
  level(
    "append_children.before",
    "leaves that nobody appended, passed as left siblings",
    swap("before[7] <-- cut0.before", "before[7] <-- [1, 1, 1, 1, 1, 1, 1]"),
  ),
  level(
    "append_children.kept",
    "a left sibling after the position",
    swap("kept[j] <-- before[j] * (left[j] - empty)", "kept[j] <-- left[j] - empty"),
  ),
  level(
    "append_children.old_shifted",
    "another old node",
    swap("cut0.in <-- [oldNode - empty]", "cut0.in <-- [oldNode - empty + 1]"),
  ),
  level(
    "append_children.new_shifted",
    "other new nodes",
    swap("cut0.in <-- differences;", "for (var s = 0; s < n; s++) { cut0.in[s] <-- differences[s] + 1; }"),
  ),
  level(
    "append_children.old",
    "old children that are not in the tree",
    swap("oldChildren[j] <-- empty + stays", "oldChildren[j] <-- 1 + empty + stays"),
  ),
  level(
    "append_children.new",
    "new children that were not appended",
    swap("newChildren[j] <-- empty + stays", "newChildren[j] <-- 1 + empty + stays"),
  ),
  parents(
    "parents.node",
    "a node that is the parent of another group",
    swap("nodes[i] <-- cut0[i].node", "nodes[i] <-- cut0[0].node"),
  ),
  path("append_path.leaves", "a leaf that was not appended", smuggle("cut2.children", "slots", 72)),
  path("append_path.groups", "a group that was not appended", smuggle("cut2.children", "newChildren[1]", 16)),
  path(
    "append_path.level",
    "a subtree that was not appended",
    smuggle("cut2[level - 2].children", "newChildren[level]", 16),
  ),
  path("append_path.root", "a root of other nodes", smuggle("cut2.children", "children", 8)),
  path("append_path.inside", "leaves past the end of the tree", {
    inputs: () => {
      const last = 4096n - 6n;
      const full = new Tree(4);
      full.set(last - 1n, 1n);
      return { startBits: bitsOf(last, 12), leftSiblings: leftSiblings(full, last), leaves: LEAVES };
    },
    harm: (read) => read("leaves[6]") !== 0n,
  }),
  ...noteAppendAttacks(),
];

function noteAppendAttacks(): Attack[] {
  const z = 12345n;
  const appended = (changes: object = {}, leaves = LEAVES.slice(0, 3)) => ({
    ...makeAppend(treeOf(3, 5), START, leaves, z).inputs,
    ...changes,
  });
  const honest = appended();
  const oldRoot = treeOf(3, 5).root;
  const [first, second, third] = LEAVES as [bigint, bigint, bigint];
  const other = appended({}, [7n, 8n, 9n]);
  const attack = (tag: string, title: string, own: Partial<Attack>): Attack => ({
    tag: `note_append.${tag}`,
    title,
    main: "note_append.circom",
    shrink: { file: "note_append.circom", find: "= NoteAppend(10);", replace: "= NoteAppend(3);" },
    inputs: () => honest,
    // A public signal differs from the model for these leaves at this index.
    harm: (read) => ["newRoot", "evaluation"].some((name) => read(name) !== honest[name]),
    ...own,
  });
  const evaluation = (title: string, contract: readonly bigint[]): Attack =>
    attack("evaluation", title, { inputs: () => appended({ evaluation: evaluate(contract, z) }) });
  return [
    attack("start", "an index beyond the tree", {
      ...swap("cut0.value <-- startIndex", "cut0.value <-- startIndex % 512"),
      inputs: () => {
        const startIndex = START + 512n;
        return appended({ startIndex, evaluation: evaluate([oldRoot, startIndex, first, second, third], z) });
      },
    }),
    attack("start", "an index chosen after the challenge, to append leaves other than those of the contract", {
      ...swap("cut0.value <-- startIndex", `cut0.value <-- ${START}`),
      // The cheater chooses the index so that its polynomial has the same value at z as the contract's.
      inputs: () => {
        const missing = (honest["evaluation"] as bigint) - evaluate([oldRoot, 0n, 7n, 8n, 9n], z);
        return { ...other, startIndex: mod(missing * inverse(z)), evaluation: honest["evaluation"]! };
      },
    }),
    attack("path", "a new tree that the prover chose", {
      ...swap("rootAfter <-- cut0.newRoot", "rootAfter <-- 666"),
      inputs: () => appended({ newRoot: 666n }),
    }),
    attack("path", "an old tree that is not the tree of the pool", {
      ...swap("rootBefore <-- cut0.oldRoot", "rootBefore <-- 666"),
      inputs: () => appended({ evaluation: evaluate([666n, START, first, second, third], z) }),
    }),
    attack("new_root", "a second root for the same leaves", {
      inputs: () => appended({ newRoot: other["newRoot"] }),
    }),
    evaluation("leaves other than those of the contract", [oldRoot, START, 7n, 8n, 9n]),
    evaluation("the leaves of the contract in another order", [oldRoot, START, second, first, third]),
    evaluation("a leaf more than the contract has", [oldRoot, START, first, second]),
    evaluation("a leaf fewer than the contract has", [oldRoot, START, first, second, third, 7n]),
    evaluation("an append to a tree that is not the tree of the pool", [
      treeOf(3, 4).root,
      START,
      first,
      second,
      third,
    ]),
    evaluation("an append at another index", [oldRoot, START + 1n, first, second, third]),
  ];
}
