pragma circom 2.2.0;

// sum(coefficients[i] * at^i), by Horner's rule from the highest coefficient down.
template Polynomial(n) {
    signal input coefficients[n];
    signal input at;
    signal output value;

    signal partial[n];
    // [C:polynomial.start] the highest coefficient.
    partial[n - 1] <== coefficients[n - 1];

    for (var i = n - 2; i >= 0; i--) {
        // [C:polynomial.step] what there is times the argument, plus the next coefficient.
        partial[i] <== partial[i + 1] * at + coefficients[i];
    }

    // [C:polynomial.value] after the lowest coefficient.
    value <== partial[0];
}
