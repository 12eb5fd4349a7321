pragma circom 2.2.0;

include "fixed_base.circom";
include "fixed_base_table.circom";

// Computes the Edwards x of R = r Base8, from the signs of r = 2^250 + s_0 + 2 s_1 + .. + 2^248 s_248.
//
// The sum starts at 2^250, and the terms add up to less than 2^249. So every sum is in (2^249, 3 * 2^249), and
// 3 * 2^249 < l, as FixedBase requires.
template EphemeralPoint() {
    // s_i v for the signs s_i = +-1. The caller constrains them to +-v.
    signal input signs[249];
    // The scale of the signs, not 0. The caller constrains it.
    signal input v;
    // v^2. The caller constrains it.
    signal input square;
    // Edwards x of R. Constrained by [C:ephemeral_point.x].
    signal output x;

    var start[2] = SCALAR_START();
    // [C:ephemeral_point.start] The sum starts at 2^250 Base8, on the curve scaled by v.
    signal cube <== square * v;
    signal point[2] <== FixedBase(83)([start[0] * square, start[1] * cube], signs, square);

    // u / v of the point before scaling is (U / v^2) / (V / v^3) = v U / V. V is not 0, because the order of R is odd.
    // [C:ephemeral_point.unscaled] The numerator v U.
    signal numerator <== v * point[0];

    x <-- numerator / point[1];
    // [C:ephemeral_point.x] Since V is not 0, there is exactly one such x.
    x * point[1] === numerator;
}
