pragma circom 2.2.0;

// Baby Jubjub in Montgomery form, v^2 = u^3 + A u^2 + u with A = 168698: the form in which an addition costs three
// constraints. Addition there is incomplete (it has no answer for P + P, P - P and the identity, and leaves the slope
// to the prover where it divides 0 by 0), so every use of it comes with the argument that these cases cannot occur.
//
// All of them are about multiples of one point of prime order l: a P and b P have the same u if and only if a = b or
// a = -b modulo l. l = 2736030358979909402780800718157159386076813972158567259200215660948447373041, between
// 3 * 2^249 and 2^251.
function MONTGOMERY_A() {
    return 168698;
}

// (u, v) lies on the curve. The identity has no coordinates here, so a point that passes is not the identity.
template OnMontgomeryCurve() {
    signal input point[2];

    // [C:montgomery.on_curve] the formulas do not notice a point of another curve, v^2 = u^3 + A u^2 + u + e: the payer
    // would choose its group, and the recipient would derive other secrets than the payer.
    signal uSquared <== point[0] * point[0];
    signal cubic <== point[0] * (uSquared + MONTGOMERY_A() * point[0] + 1);
    point[1] * point[1] === cubic;
}

// a + b on the curve scaled by w: (U, V) = (w^2 u, w^3 v) satisfies V^2 = U^3 + A w^2 U^2 + w^4 U, which has the same
// addition with A w^2 in place of A. `square` is w^2; 1 for the curve as it is. a and b must have different U.
template AddScaled() {
    signal input a[2];
    signal input b[2];
    signal input square;
    signal output sum[2];

    signal slope <-- (b[1] - a[1]) / (b[0] - a[0]);
    // [C:add_scaled.slope] the line through both points: one slope, since their U differ.
    slope * (b[0] - a[0]) === b[1] - a[1];

    // [C:add_scaled.u] the line meets the curve in a third point; the three U add up to slope^2 - A w^2.
    sum[0] <== slope * slope - MONTGOMERY_A() * square - a[0] - b[0];

    // [C:add_scaled.v] the sum is the third point mirrored.
    sum[1] <== slope * (a[0] - sum[0]) - a[1];
}
