pragma circom 2.2.0;

include "circomlib/circuits/bitify.circom";

// Checks that value is an integer in [0, 2^n), and returns its bits. n <= 253, so that a field element has at most one
// representation.
template Bits(n) {
    // The number. Constrained by [C:range.bits].
    signal input value;
    // Its bits, lowest first, each 0 or 1. Constrained by [C:range.bits].
    signal output bits[n];

    // [C:range.bits] A value of n bits has one representation, and a larger one has none. Without it, a negative number
    // (p - x) would pass as an amount, and money would appear from nowhere.
    bits <== Num2Bits(n)(value);
}

// Checks that value is an integer in [0, 2^n).
template Range(n) {
    // The number. Constrained by [C:range.value].
    signal input value;

    // [C:range.value] The bits exist; they are not used.
    _ <== Bits(n)(value);
}
