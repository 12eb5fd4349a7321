pragma circom 2.2.0;

// Baby Jubjub in Montgomery form, v^2 = u^3 + A u^2 + u with A = 168698: the form in which an addition costs three
// constraints. Its additions are incomplete: who uses one shows that its exceptional cases cannot occur.
function MONTGOMERY_A() { return 168698; }

// (u, v) lies on the curve. The identity has no affine coordinates here, so whatever passes is not the identity.
template OnMontgomeryCurve() {
    signal input u;
    signal input v;

    signal uu <== u * u;
    // [C:montgomery.cubic] ..
    signal cubic <== u * (uu + MONTGOMERY_A() * u + 1);
    // [C:montgomery.curve] ..
    v * v === cubic;
}

// 2 (u, v) for a point of the curve. Needs no condition: slope * 2v = 3u^2 + 2Au + 1 has no solution at the one point
// with v = 0, which is (0, 0), since there the right side is 1 (A^2 - 4 is no square, so u^2 + Au + 1 has no root).
template MontgomeryDoubling() {
    signal input in[2];
    signal output out[2];

    var A = MONTGOMERY_A();
    signal uu <== in[0] * in[0];
    signal slope <-- (3 * uu + 2 * A * in[0] + 1) / (2 * in[1]);
    // [C:montgomery.tangent] ..
    slope * (2 * in[1]) === 3 * uu + 2 * A * in[0] + 1;
    // [C:montgomery.double_u] ..
    out[0] <== slope * slope - A - 2 * in[0];
    // [C:montgomery.double_v] ..
    out[1] <== slope * (in[0] - out[0]) - in[1];
}
