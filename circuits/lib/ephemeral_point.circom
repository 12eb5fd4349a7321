pragma circom 2.2.0;

include "fixed_base.circom";
include "fixed_base_table.circom";

// x on the Edwards curve of R = r Base8, from the signs of r = 2^250 + s_0 + 2 s_1 + .. + 2^248 s_248, given as s_i v.
//
// The start of the sum is 2^250 and the terms add up to less than 2^249: every sum is in (2^249, 3 * 2^249), and
// 3 * 2^249 < l, as FixedBase wants.
template EphemeralPoint() {
    signal input signs[249];
    signal input v;
    signal input square;
    signal output x;

    var start[2] = SCALAR_START();
    // [C:ephemeral_point.start] 2^250 Base8 on the curve scaled by v.
    signal cube <== square * v;
    signal point[2] <== FixedBase(83)([start[0] * square, start[1] * cube], signs, square);

    // u / v of the point before scaling is (U / v^2) / (V / v^3) = v U / V. V is not 0: R is of odd order.
    // [C:ephemeral_point.unscaled] the numerator.
    signal numerator <== v * point[0];

    x <-- numerator / point[1];
    // [C:ephemeral_point.x] as V is not 0, there is one such x.
    x * point[1] === numerator;
}
