pragma circom 2.2.0;

// Computes sum(coefficients[i] * at^i) by Horner's method, from the highest coefficient down.
template Polynomial(n) {
    // Field elements. The caller constrains them.
    signal input coefficients[n];
    // The point, a field element. The caller constrains it.
    signal input at;
    // The value at this point, a field element. Constrained by [C:polynomial.value].
    signal output value;

    // The value of the coefficients from i upwards.
    signal partial[n];
    // [C:polynomial.start] Starts with the highest coefficient.
    partial[n - 1] <== coefficients[n - 1];

    for (var i = n - 2; i >= 0; i--) {
        // [C:polynomial.step] Multiplies by the point and adds the next coefficient.
        partial[i] <== partial[i + 1] * at + coefficients[i];
    }

    // [C:polynomial.value] The value after the lowest coefficient is the result.
    value <== partial[0];
}
