pragma circom 2.2.0;

include "fixed_base_table.circom";
include "montgomery.circom";

// Computes start + the sum of s_i 2^i Base8 over i < 3 windows, for signs s_i = +-1. `windows` is 21 or 83, the sizes
// of the table's blocks. Signs are given as t_i = s_i w and points as (U, V) = (w^2 u, w^3 v), for a scale w != 0 that
// the caller chooses: 1 for plain signs, or the v of a variable base, so that both multiplications use the same t_i.
//
// A window is the sum of three of the points +-2^i Base8: eight points, two opposite ones for each u. u does not change
// when all signs change, so it is a quadratic form in the signs, u = x0 + x01 s0 s1 + x02 s0 s2 + x12 s1 s2. v is odd,
// v = y0 s0 + y1 s1 + y2 s2 + y012 s0 s1 s2. Since t_i^2 = w^2, two products of linear forms compute both:
//     U = (t0 + beta t1)(f0 t0 + f1 t1 + f2 t2)
//     V = (g0 t0 + g1 t1 + g2 t2)(U + c w^2)
// beta and f follow from comparing coefficients. g and c follow from a cubic, which has a root for two thirds of all
// triples. So the exponents are not grouped in ascending order, but in triples whose cubic has a root; the table lists
// them.
//
// No addition is exceptional. Write every point as a multiple of Base8 (or of Base8/2, if the caller's start is one),
// start = a. The caller ensures |2^0 + .. + 2^(3 windows - 1)| < a and a + that sum < l, in the same unit. Then every
// number a + (some of the terms +-2^i) is between 1 and l - 1, for any choice of terms and signs. The sum before a
// window is such a number b. With the window's term t, b + t and b - t are two more. None is 0 modulo l, so b and t
// differ and are not opposite. b and t are not 0 (t is odd times a power of two, and less than l). So in each addition,
// the two points have different u and are not the identity.
template FixedBase(windows) {
    // The first summand, scaled by w. The caller constrains it.
    signal input start[2];
    // t_i = s_i w. The caller constrains them to +-w.
    signal input signs[3 * windows];
    // w^2. The caller constrains it.
    signal input square;
    // The result, scaled by w. Constrained by [C:fixed_base.result].
    signal output out[2];

    var table[83][11] = FIXED_BASE_TABLE();
    // The point of each window, scaled by w.
    signal points[windows][2];
    // The sum before each window and after the last one, scaled by w.
    signal sums[windows + 1][2];
    // [C:fixed_base.start] The first sum is the start.
    sums[0] <== start;

    for (var k = 0; k < windows; k++) {
        var t0 = signs[table[k][0]];
        var t1 = signs[table[k][1]];
        var t2 = signs[table[k][2]];
        // [C:fixed_base.window_u] U of the window's point.
        points[k][0] <== (t0 + table[k][3] * t1) * (table[k][4] * t0 + table[k][5] * t1 + table[k][6] * t2);

        // [C:fixed_base.window_v] V of the window's point.
        points[k][1] <==
            (table[k][7] * t0 + table[k][8] * t1 + table[k][9] * t2) * (points[k][0] + table[k][10] * square);

        // [C:fixed_base.add] Adds the window's point to the sum.
        sums[k + 1] <== AddScaled()(sums[k], points[k], square);
    }

    // [C:fixed_base.result] The result is the sum after the last window.
    out <== sums[windows];
}
