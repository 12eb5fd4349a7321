pragma circom 2.2.0;

include "circomlib/circuits/poseidon.circom";

// Poseidon of n field elements under a domain constant: circomlib's permutation of width n + 1 with the domain in the
// capacity lane, first lane out.
template Hash(n, domain) {
    signal input inputs[n];
    signal output out;

    // [C:hash.permutation] without it the hash is any number the prover likes, and every commitment opens to anything.
    signal state[1] <== PoseidonEx(n, 1)(inputs, domain);
    out <== state[0];
}
