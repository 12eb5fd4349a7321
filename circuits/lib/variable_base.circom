pragma circom 2.2.0;

include "montgomery.circom";

template DoubleAndAdd() {
    signal input acc[2];
    signal input u;
    signal input v;
    signal output out[2];
    var A = MONTGOMERY_A();

    signal slope1 <-- (acc[1] - v) / (acc[0] - u);
    // [C:variable_base.first_slope] ..
    slope1 * (acc[0] - u) === acc[1] - v;
    signal sumU <== slope1 * slope1 - A - acc[0] - u;
    signal slope2 <-- 2 * acc[1] / (acc[0] - sumU) - slope1;
    (slope1 + slope2) * (acc[0] - sumU) === 2 * acc[1];
    out[0] <== slope2 * slope2 - A - sumU - acc[0];
    out[1] <== slope2 * (acc[0] - out[0]) - acc[1];
}

// r P with r = 2 b + 2^n + 1
template VariableBase(n) {
    signal input base[2];
    signal input bits[n];
    signal output out[2];

    signal acc[n + 1][2];
    acc[0] <== MontgomeryDoubling()(base);
    signal v[n];
    for (var i = 0; i < n; i++) {
        v[i] <== (2 * bits[n - 1 - i] - 1) * base[1];
        acc[i + 1] <== DoubleAndAdd()(acc[i], base[0], v[i]);
    }
    out <== acc[n];
}
