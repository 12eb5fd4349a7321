pragma circom 2.2.0;

include "circomlib/circuits/montgomery.circom";
include "montgomery.circom";

// An encryption key PK as 8 Q for a point Q of the curve, which the witness gives. The curve has 8 l points, so 8 Q has
// order l or 1, and 1 is excluded, because no point here is the identity. Without the proof a payer could use a point
// of order 2 to 8, or add one to the recipient's: then several shared secrets belong to one key, and the recipient
// cannot read what it was paid.
//
// Doubling by circomlib's MontgomeryDouble needs no argument: its tangent, slope * 2 v = 3 u^2 + 2 A u + 1, exists
// for every point with v != 0; the only one with v = 0 is (0, 0) (u^2 + A u + 1 has no root), and there the equation
// reads 0 = 1. So the doubling of a point whose double is the identity cannot be proved.
template RecipientKey() {
    signal input q[2];
    signal output key[2];

    // [C:recipient_key.on_curve] Q is a point of this curve, not the identity.
    OnMontgomeryCurve()(q);

    // [C:recipient_key.cofactor] three doublings take it into the subgroup of order l.
    signal q2[2] <== MontgomeryDouble()(q);
    signal q4[2] <== MontgomeryDouble()(q2);
    key <== MontgomeryDouble()(q4);
}
