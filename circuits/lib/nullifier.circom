pragma circom 2.2.0;

include "domains.circom";
include "hash.circom";

// The number that marks a note as spent. Nobody without the spending key can tell which note it belongs to; the leaf
// index gives two equal commitments two nullifiers, so that both can be spent, each once.
template Nullifier() {
    signal input spendingKey;
    signal input commitment;
    signal input leafIndex;
    signal output nullifier;

    // [C:nullifier.hash] one nullifier for a note at its place: with another one it could be spent again.
    nullifier <== Hash(3, DOMAIN_NULLIFIER())([spendingKey, commitment, leafIndex]);
}
