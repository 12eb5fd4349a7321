pragma circom 2.2.0;

include "poseidon.circom";

// Poseidon of n field elements with a domain constant: circomlib's permutation of width n + 1, with the domain in the
// capacity lane. The output is the first lane.
template Hash(n, domain) {
    // Field elements. The caller constrains them.
    signal input inputs[n];
    // The hash, a field element. Constrained by [C:hash.permutation].
    signal output out;

    // [C:hash.permutation] Without it, the prover could choose any hash, and every commitment would open to anything.
    signal state[1] <== PoseidonEx(n, 1)(inputs, domain);
    out <== state[0];
}
