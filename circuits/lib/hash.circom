pragma circom 2.2.0;

include "circomlib/circuits/poseidon.circom";

// Poseidon of n field elements under a domain constant: circomlib's permutation of width n + 1 with the domain in the
// capacity lane. m outputs of one permutation, m <= n: the whole state would let it be run backwards.
template Hash(n, m, domain) {
    signal input inputs[n];
    signal output out[m];

    // [C:hash.permutation] without it the hash is any number the prover likes, and every commitment opens to anything.
    out <== PoseidonEx(n, m)(inputs, domain);
}
