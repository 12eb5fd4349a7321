pragma circom 2.2.0;

include "lib/append_path.circom";
include "lib/polynomial.circom";
include "lib/prefix.circom";
include "lib/range.circom";

// Moves 1 to 64 queued commitments into the tree: proves the root before and after, and that nothing else changed.
// circuits.json describes every input as callers see it.
//
// The leaves are private, because 64 public signals would cost the contract 64 scalar multiplications. The contract
// knows the leaves. It hashes them with all other public values to the challenge z and computes y = sum(leaf_i z^i).
// The circuit computes the same sum over its own leaves. newRoot is an input of that hash, so it commits the prover to
// its leaves before z is known. If these leaves differ from the contract's, z must be a root of a nonzero polynomial of
// degree below 64, which has probability 64/p for each attempt.
template NoteAppend(depth) {
    // ====================================================================================================== PUBLIC ==
    // Root of the tree before the append. Constrained in 2.
    signal input oldRoot;
    // Root of the tree after the append. Constrained in 2.
    signal input newRoot;
    // Index of the first leaf, 3 * depth bits. Constrained in 2.
    signal input startIndex;
    // Number of leaves, 1 to 64. Constrained in 1.
    signal input count;
    // The challenge z, a field element. The contract computes it.
    signal input challenge;
    // y, the sum of leaves[i] * z^i. Constrained in 3.
    signal input evaluation;

    // ===================================================================================================== PRIVATE ==
    // The commitments, then zeros. Constrained in 1 and 3.
    signal input leaves[64];
    // For each level, the siblings left of the path's node; entries at and after its position are ignored. The match
    // with oldRoot in 2 constrains them.
    signal input leftSiblings[depth][7];

    // =================================================================================================== STATEMENT ==
    // 1. There are `count` leaves, 1 to 64, followed by zeros.
    // [C:note_append.count] The tree grows by as many leaves as the contract counts.
    Prefix(64)(count, leaves);

    // 2. Inserted into the old tree from startIndex on, where every leaf is empty, they make the new tree.
    // [C:note_append.start] The index of the first leaf as bits; a tree of this depth has no larger index.
    signal startBits[3 * depth] <== Bits(3 * depth)(startIndex);

    // [C:note_append.path] Both roots are computed from the same unchanged nodes.
    signal (rootBefore, rootAfter) <== AppendPath(depth)(startBits, leftSiblings, leaves);

    // [C:note_append.old_root] The tree that grows is the pool's tree.
    oldRoot === rootBefore;

    // [C:note_append.new_root] The pool's next root is the root of the tree with these leaves.
    newRoot === rootAfter;

    // 3. The leaves are those of the contract.
    // [C:note_append.evaluation] The contract evaluated the same polynomial, at a point that nobody could choose.
    signal evaluated <== Polynomial(64)(leaves, challenge);
    evaluation === evaluated;
}

component main { public [oldRoot, newRoot, startIndex, count, challenge, evaluation] } = NoteAppend(10);
