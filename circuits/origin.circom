pragma circom 2.2.0;

include "lib/spent_note.circom";

// Proves that the note behind a nullifier is in a curator's set. The set is a mask tree, which has the shape of the pool's
// tree: a note of the set is the leaf at its own index, and every other leaf is 0. Services, resource servers and curators
// verify the proof; the chain never does. circuits.json describes every input as callers see it.
//
// The amount has no range check here: the note's commitment was made by a deposit, a payment or a withdrawal, which checked
// it, and opens to one amount only. docs/origins.md, "Why it is sound", has the argument for the whole circuit.
template Origin(depth) {
    // ====================================================================================================== PUBLIC ==
    // Root of the curator's mask tree. Constrained in 1; the verifier checks that the curator published it.
    signal input maskRoot;
    // Nullifier of the note. Constrained in 2; the verifier takes it from a payment or a withdrawal.
    signal input nullifier;

    // ===================================================================================================== PRIVATE ==
    // Spending key of the note, a field element. Constrained in 1.
    signal input spendingKey;
    // Token base units of the note, a field element. Constrained in 1.
    signal input amount;
    // Blinding of the note, a field element. Constrained in 1.
    signal input blinding;
    // Index of the note in the pool's tree and in the mask tree, 3 * depth bits. Constrained in 1.
    signal input leafIndex;
    // The eight children of every node on the path in the mask tree, leaves first. Constrained in 1.
    signal input pathChildren[depth][8];

    // =================================================================================================== STATEMENT ==
    // 1. The prover owns a note in the mask tree.
    // [C:origin.note] The root and the nullifier belong to one note. A leaf 0 has no opening, so it is not a note.
    signal (ownerTag, noteRoot, noteNullifier) <== SpentNote(depth)(
        spendingKey, amount, blinding, leafIndex, pathChildren
    );

    // [C:origin.mask_root] The note is in the curator's set, not in a set that the prover made up.
    maskRoot === noteRoot;

    // 2. The nullifier is that of this note.
    // [C:origin.nullifier] With a free nullifier, one note in the set would vouch for every payment.
    nullifier === noteNullifier;
}

component main { public [maskRoot, nullifier] } = Origin(10);
