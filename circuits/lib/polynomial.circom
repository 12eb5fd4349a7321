pragma circom 2.2.0;

// sum(coefficients[i] * at^i), by Horner's rule from the highest coefficient down.
template Polynomial(n) {
    signal input coefficients[n];
    signal input at;
    signal output value;

    signal partial[n];
    partial[n - 1] <== coefficients[n - 1];
    for (var i = n - 2; i >= 0; i--) {
        // [C:polynomial.horner] one step of the evaluation.
        partial[i] <== partial[i + 1] * at + coefficients[i];
    }
    value <== partial[0];
}
