pragma circom 2.2.0;

include "circomlib/circuits/montgomery.circom";
include "montgomery.circom";

// Computes an encryption key PK = 8 Q from a point Q of the curve, which the prover chooses. The curve has 8 l points,
// so the order of 8 Q is l or 1. It is not 1, because the identity has no coordinates here. Without this proof, a payer
// could use a point of order 2 to 8, or add one to the recipient's key. Then several shared secrets would belong to one
// key, and the recipient could not read its payment.
//
// No doubling by circomlib's MontgomeryDouble is exceptional. Its tangent, slope * 2 v = 3 u^2 + 2 A u + 1, exists for
// every point with v != 0. The only point with v = 0 is (0, 0), because u^2 + A u + 1 has no root, and there the
// equation is 0 = 1. So nobody can prove the doubling of a point whose double is the identity.
template RecipientKey() {
    // Montgomery (u, v) of Q. Constrained by [C:recipient_key.on_curve].
    signal input q[2];
    // Montgomery (u, v) of 8 Q. Constrained by [C:recipient_key.cofactor].
    signal output key[2];

    // [C:recipient_key.on_curve] Q is a point of this curve and not the identity.
    OnMontgomeryCurve()(q);

    // [C:recipient_key.cofactor] Three doublings move Q into the subgroup of order l.
    signal q2[2] <== MontgomeryDouble()(q);
    signal q4[2] <== MontgomeryDouble()(q2);
    key <== MontgomeryDouble()(q4);
}
