pragma circom 2.2.0;

include "domains.circom";
include "hash.circom";

// The number that marks a note as spent. Without the spending key, nobody can tell which note it belongs to. The leaf
// index gives two equal commitments different nullifiers, so that each can be spent once.
template Nullifier() {
    // Spending key of the note, a field element. The caller constrains it.
    signal input spendingKey;
    // Commitment of the note, a field element. The caller constrains it.
    signal input commitment;
    // Index of the note in the tree. The caller constrains it.
    signal input leafIndex;
    // The nullifier, a field element. Constrained by [C:nullifier.hash].
    signal output nullifier;

    // [C:nullifier.hash] A note at its index has exactly one nullifier. With a second one it could be spent again.
    nullifier <== Hash(3, DOMAIN_NULLIFIER())([spendingKey, commitment, leafIndex]);
}
