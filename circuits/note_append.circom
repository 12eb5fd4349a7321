pragma circom 2.2.0;

include "lib/append_path.circom";
include "lib/polynomial.circom";
include "lib/prefix.circom";
include "lib/range.circom";

// Moves 1 to 64 queued commitments into the tree: the root before and after, and nothing else has changed. Signals are
// described in circuits.json.
//
// The leaves are not public; that would cost the contract 64 scalar multiplications. The contract, which knows them,
// hashes them with all other public values to the challenge z and computes y = sum(leaf_i z^i); the circuit does the
// same sum over its own leaves. newRoot, an input of that hash, binds the prover to its leaves before z is known. If
// they are not the contract's, z is a root of a polynomial that is not 0 and of degree below 64: 64/p a try.
template NoteAppend(depth) {
    // ====================================================================================================== PUBLIC ==
    signal input oldRoot;
    signal input newRoot;
    signal input startIndex;
    signal input count;
    signal input challenge;
    signal input evaluation;

    // ===================================================================================================== PRIVATE ==
    signal input leaves[64];
    signal input leftSiblings[depth][7];

    // =================================================================================================== STATEMENT ==
    // 1. `count` leaves, 1 to 64, then zeros.
    // [C:note_append.count] the tree grows by what the contract counts.
    Prefix(64)(count, leaves);

    // 2. Put into the old tree from startIndex on, where everything is empty, they make the new tree.
    // [C:note_append.start] the place of the first leaf, in bits.
    signal startBits[3 * depth] <== Bits(3 * depth)(startIndex);

    // [C:note_append.path] both roots come from the same untouched nodes.
    signal (rootBefore, rootAfter) <== AppendPath(depth)(startBits, leftSiblings, leaves);

    // [C:note_append.old_root] the tree that grows is the pool's.
    oldRoot === rootBefore;

    // [C:note_append.new_root] and the pool's next root is the tree with the leaves.
    newRoot === rootAfter;

    // 3. The leaves are the contract's.
    // [C:note_append.evaluation] the same polynomial at a point that nobody could choose.
    signal evaluated <== Polynomial(64)(leaves, challenge);
    evaluation === evaluated;
}

component main { public [oldRoot, newRoot, startIndex, count, challenge, evaluation] } = NoteAppend(10);
