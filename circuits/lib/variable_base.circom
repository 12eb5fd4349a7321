pragma circom 2.2.0;

include "circomlib/circuits/montgomery.circom";
include "montgomery.circom";

// 2 sum + (u, v), as (sum + (u, v)) + sum: two additions, the first without the v of its result, which is not needed.
template DoubleAndAdd() {
    signal input sum[2];
    signal input u;
    signal input v;
    signal output out[2];

    var A = MONTGOMERY_A();
    signal slope <-- (sum[1] - v) / (sum[0] - u);
    // [C:double_and_add.slope] the line through sum and (u, v).
    slope * (sum[0] - u) === sum[1] - v;

    // [C:double_and_add.middle] u of sum + (u, v).
    signal middle <== slope * slope - A - sum[0] - u;

    signal second <-- 2 * sum[1] / (sum[0] - middle) - slope;
    // [C:double_and_add.second] the line through sum and sum + (u, v); the v of the latter is
    // slope (sum - middle) - v of sum, which makes this the slope's equation.
    (second + slope) * (sum[0] - middle) === 2 * sum[1];

    // [C:double_and_add.u] u of the result.
    out[0] <== second * second - A - middle - sum[0];

    // [C:double_and_add.v] v of the result.
    out[1] <== second * (sum[0] - out[0]) - sum[1];
}

// (2^(n+1) + s_0 + 2 s_1 + .. + 2^(n-1) s_(n-1)) P for signs s_i = +-1, given as s_i v, v that of P = (u, v); n <= 249.
// P must have order l.
//
// No addition is exceptional. Let the sum before step i (i = 0 .. n - 1) be a P. It starts with a = 2, and a step makes
// 2 a + s of a, so 2^i + 1 <= a <= 3 * 2^i - 1.
// - First addition, a P + s P: exceptional for a = 0, 1 or -1 modulo l. But 2 <= a <= 3 * 2^248 - 1 < l - 1.
// - Second addition, (a + s) P + a P: the same u if s = 0, which is not so, or 2 a + s = 0 modulo l. But 2 a + s is the
//   next a, between 2^(i+1) + 1 and 3 * 2^249 - 1, which is less than l (by 0.8 %: with n = 250 this would fail). The
//   operands are not the identity, since a and a + s are between 1 and l - 1.
template VariableBase(n) {
    signal input base[2];
    signal input signs[n];
    signal output out[2];

    signal sums[n + 1][2];
    // [C:variable_base.start] 2 P.
    sums[0] <== MontgomeryDouble()(base);

    for (var i = 0; i < n; i++) {
        // [C:variable_base.step] the signs from the highest down; s (u, v) = (u, s v).
        sums[i + 1] <== DoubleAndAdd()(sums[i], base[0], signs[n - 1 - i]);
    }

    // [C:variable_base.result] the sum after the last sign.
    out <== sums[n];
}
