pragma circom 2.2.0;

include "circomlib/circuits/bitify.circom";

// value is an integer in [0, 2^n), given back as bits, the lowest first. n <= 253, so that a field element has one
// representation at most.
template Bits(n) {
    signal input value;
    signal output bits[n];

    // [C:range.bits] a value of n bits has one representation and a larger one has none; without it a negative
    // number (p - x) passes as an amount and money appears from nowhere.
    bits <== Num2Bits(n)(value);
}

// value is an integer in [0, 2^n).
template Range(n) {
    signal input value;

    // [C:range.value] the bits exist; nobody asks what they are.
    _ <== Bits(n)(value);
}
