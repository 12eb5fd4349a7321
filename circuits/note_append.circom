pragma circom 2.2.0;

include "lib/append_path.circom";
include "lib/polynomial.circom";
include "lib/prefix.circom";
include "lib/range.circom";

// Moves up to 64 queued commitments into the tree.
template NoteAppend(depth) {
    // ======================================================================================================== PUBLIC
    signal input oldRoot;
    signal input newRoot;
    signal input startIndex;
    signal input count;
    signal input challenge;
    signal input evaluation;

    // ======================================================================================================= PRIVATE
    signal input leaves[64];
    signal input leftSiblings[depth][7];

    // 1. Count leaves
    Prefix(64)(count, leaves);

    // 2. ..
    signal startBits[3 * depth] <== Bits(3 * depth)(startIndex);
    signal (before, after) <== AppendPath(depth)(startBits, leftSiblings, leaves);
    oldRoot === before;
    newRoot === after;

    // 3. ..
    signal evaluated <== Polynomial(64)(leaves, challenge);
    evaluation === evaluated;
}

component main { public [oldRoot, newRoot, startIndex, count, challenge, evaluation] } = NoteAppend(10);
