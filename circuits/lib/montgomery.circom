pragma circom 2.2.0;

// Baby Jubjub in Montgomery form, v^2 = u^3 + A u^2 + u with A = 168698. In this form, an addition costs three
// constraints. It is incomplete: it is not defined for P + P, P - P and the identity, and if the slope is 0 / 0, the
// prover may choose it. So every use states why these cases cannot occur.
//
// All these arguments are about multiples of one point of prime order l. a P and b P have the same u if and only if
// a = b or a = -b modulo l. l = 2736030358979909402780800718157159386076813972158567259200215660948447373041, between
// 3 * 2^249 and 2^251.
function MONTGOMERY_A() {
    return 168698;
}

// Checks that (u, v) is on the curve. The identity has no coordinates in this form, so the point is not the identity.
template OnMontgomeryCurve() {
    // Montgomery (u, v). Constrained by [C:montgomery.on_curve].
    signal input point[2];

    // [C:montgomery.on_curve] The addition formulas also work on another curve, v^2 = u^3 + A u^2 + u + e. With a point
    // of such a curve, the payer would choose the group, and the recipient would derive other secrets than the payer.
    signal uSquared <== point[0] * point[0];
    signal cubic <== point[0] * (uSquared + MONTGOMERY_A() * point[0] + 1);
    point[1] * point[1] === cubic;
}

// Computes a + b on the curve scaled by w: (U, V) = (w^2 u, w^3 v) satisfies V^2 = U^3 + A w^2 U^2 + w^4 U, which has
// the same addition formulas with A w^2 instead of A.
template AddScaled() {
    // Scaled (U, V) of a point. The caller constrains it.
    signal input a[2];
    // Scaled (U, V) of a point whose U differs from that of `a`. The caller constrains it.
    signal input b[2];
    // w^2; 1 for the curve without scaling. The caller constrains it.
    signal input square;
    // Scaled (U, V) of the sum. Constrained by the groups below.
    signal output sum[2];

    // Slope of the line through both points. Constrained by [C:add_scaled.slope].
    signal slope <-- (b[1] - a[1]) / (b[0] - a[0]);
    // [C:add_scaled.slope] Since the U of the two points differ, there is exactly one slope.
    slope * (b[0] - a[0]) === b[1] - a[1];

    // [C:add_scaled.u] The line meets the curve in a third point. The three U add up to slope^2 - A w^2.
    sum[0] <== slope * slope - MONTGOMERY_A() * square - a[0] - b[0];

    // [C:add_scaled.v] The sum is the negative of the third point.
    sum[1] <== slope * (a[0] - sum[0]) - a[1];
}
