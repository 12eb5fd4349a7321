pragma circom 2.2.0;

include "lib/append_path.circom";
include "lib/polynomial.circom";
include "lib/range.circom";

// Moves 1 to 64 queued commitments into the tree: proves the root before and after, and that nothing else changed.
// circuits.json describes every input as callers see it.
//
// Old root, index and leaves are private, because each public signal costs the contract a scalar multiplication. The
// contract knows the true ones. It hashes them with newRoot to the challenge z and computes y, the value at z of the
// polynomial with these coefficients. The circuit computes the same value from its own. newRoot is an input of that hash
// and determines them, except for the index, before z is known: at most 2^30 candidates. A wrong one passes only if z is
// a root of a nonzero polynomial of degree at most 65: docs/protocol.md, "The append challenge".
template NoteAppend(depth) {
    // ====================================================================================================== PUBLIC ==
    // Root of the tree after the append. Constrained in 1.
    signal input newRoot;
    // The challenge z, a field element. The contract computes it.
    signal input challenge;
    // y, the value of the statement's polynomial at z. Constrained in 2.
    signal input evaluation;

    // ===================================================================================================== PRIVATE ==
    // Index of the first leaf, 3 * depth bits. Constrained in 1 and 2.
    signal input startIndex;
    // The commitments, then zeros. Constrained in 1 and 2.
    signal input leaves[64];
    // For each level, the siblings left of the path's node; entries at and after its position are ignored. The old root
    // in 2 constrains them.
    signal input leftSiblings[depth][7];

    // =================================================================================================== STATEMENT ==
    // 1. Inserted into the old tree from startIndex on, where every leaf is empty, they make the new tree.
    // [C:note_append.start] The index of the first leaf as bits; a tree of this depth has no larger index, and an index
    // of any size could be chosen to fit z.
    signal startBits[3 * depth] <== Bits(3 * depth)(startIndex);

    // [C:note_append.path] Both roots are computed from the same unchanged nodes.
    signal (rootBefore, rootAfter) <== AppendPath(depth)(startBits, leftSiblings, leaves);

    // [C:note_append.new_root] The pool's next root is the root of the tree with these leaves.
    newRoot === rootAfter;

    // 2. Old root, index and leaves are those of the contract.
    var coefficients[66];
    coefficients[0] = rootBefore;
    coefficients[1] = startIndex;
    for (var i = 0; i < 64; i++) {
        coefficients[2 + i] = leaves[i];
    }
    // [C:note_append.evaluation] The contract evaluated the same polynomial, at a point that nobody could choose.
    signal evaluated <== Polynomial(66)(coefficients, challenge);
    evaluation === evaluated;
}

component main { public [newRoot, challenge, evaluation] } = NoteAppend(10);
