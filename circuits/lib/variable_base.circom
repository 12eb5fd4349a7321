pragma circom 2.2.0;

include "circomlib/circuits/montgomery.circom";
include "montgomery.circom";

// Computes 2 sum + (u, v) as (sum + (u, v)) + sum: two additions, the first without the v of its result, which is not
// needed.
template DoubleAndAdd() {
    // Montgomery (u, v) of a point. The caller constrains it.
    signal input sum[2];
    // u of the point to add. The caller constrains it and excludes exceptional additions.
    signal input u;
    // v of the point to add. The caller constrains it.
    signal input v;
    // Montgomery (u, v) of the result. Constrained by the groups below.
    signal output out[2];

    var A = MONTGOMERY_A();
    // Slope of the line through sum and (u, v). Constrained by [C:double_and_add.slope].
    signal slope <-- (sum[1] - v) / (sum[0] - u);
    // [C:double_and_add.slope] The line goes through sum and (u, v).
    slope * (sum[0] - u) === sum[1] - v;

    // [C:double_and_add.middle] The u of sum + (u, v).
    signal middle <== slope * slope - A - sum[0] - u;

    // Slope of the line through sum and sum + (u, v). Constrained by [C:double_and_add.second].
    signal second <-- 2 * sum[1] / (sum[0] - middle) - slope;
    // [C:double_and_add.second] The line goes through sum and sum + (u, v). The v of the latter is slope (u of sum -
    // middle) - v of sum, which gives this equation for the slope.
    (second + slope) * (sum[0] - middle) === 2 * sum[1];

    // [C:double_and_add.u] The u of the result.
    out[0] <== second * second - A - middle - sum[0];

    // [C:double_and_add.v] The v of the result.
    out[1] <== second * (sum[0] - out[0]) - sum[1];
}

// Computes (2^(n+1) + s_0 + 2 s_1 + .. + 2^(n-1) s_(n-1)) P for signs s_i = +-1 and P = (u, v); n <= 249.
//
// No addition is exceptional. Let the sum before step i (i = 0 .. n - 1) be a P. It starts with a = 2, and a step turns
// a into 2 a + s, so 2^i + 1 <= a <= 3 * 2^i - 1.
// - The first addition, a P + s P, is exceptional for a = 0, 1 or -1 modulo l. But 2 <= a <= 3 * 2^248 - 1 < l - 1.
// - The second addition, (a + s) P + a P, has two points with the same u if s = 0, which is false, or if 2 a + s = 0
//   modulo l. But 2 a + s is the next a, between 2^(i+1) + 1 and 3 * 2^249 - 1, which is less than l (by 0.8 %; for
//   n = 250 this would fail). The operands are not the identity, because a and a + s are between 1 and l - 1.
template VariableBase(n) {
    // Montgomery (u, v) of P, a point of order l. The caller constrains it.
    signal input base[2];
    // s_i v for the signs s_i = +-1. The caller constrains them to +-v.
    signal input signs[n];
    // Montgomery (u, v) of the product. Constrained by [C:variable_base.result].
    signal output out[2];

    // The sum before each step and after the last one.
    signal sums[n + 1][2];
    // [C:variable_base.start] Starts with 2 P.
    sums[0] <== MontgomeryDouble()(base);

    for (var i = 0; i < n; i++) {
        // [C:variable_base.step] Uses the signs from the highest down; s (u, v) = (u, s v).
        sums[i + 1] <== DoubleAndAdd()(sums[i], base[0], signs[n - 1 - i]);
    }

    // [C:variable_base.result] The result is the sum after the last sign.
    out <== sums[n];
}
