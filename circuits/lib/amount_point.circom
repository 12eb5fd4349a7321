pragma circom 2.2.0;

include "circomlib/circuits/babyjub.circom";
include "edwards.circom";
include "fixed_base.circom";
include "fixed_base_table.circom";

// Computes amount Base8 on the Edwards curve, from the 64 bits of the amount.
//
// With the signs s_i = 2 bit_i - 1 of all 64 bits, 2^64 + s_0 + 2 s_1 + .. + 2^63 s_63 = 2 amount + 1. So in units of
// Base8/2, the sum starts at 2^64 + s_0 (one of two points; a choice by one bit is linear), each further sign counts
// 2^i Base8/2 = 2^(i-1) Base8, and the result is amount Base8 + Base8/2. Every sum is in [1, 2^65 - 1], as FixedBase
// requires. This is the reason for the start: from 0, the sum for the amount 7 would equal the next window. The half is
// then subtracted on the Edwards curve, where addition is complete: the amount 0 gives the identity.
template AmountPoint() {
    // The amount in binary, lowest bit first. The caller constrains each bit to 0 or 1.
    signal input bits[64];
    // Edwards (x, y) of amount Base8. Constrained by [C:amount_point.half].
    signal output point[2];

    var start[2][2] = AMOUNT_START();
    var signs[63];
    for (var i = 0; i < 63; i++) {
        signs[i] = 2 * bits[i + 1] - 1;
    }
    // [C:amount_point.sum] Montgomery (u, v) of amount Base8 + Base8/2.
    signal sum[2] <== FixedBase(21)(
        [start[0][0] + bits[0] * (start[1][0] - start[0][0]), start[0][1] + bits[0] * (start[1][1] - start[0][1])],
        signs,
        1
    );

    // [C:amount_point.edwards] The same point in Edwards form. It is an odd multiple of Base8/2, so its v is not 0.
    signal x <== EdwardsX()(sum);
    signal y <== EdwardsY()(sum);

    var minusHalf[2] = MINUS_HALF_BASE8();
    // [C:amount_point.half] Subtracts Base8/2.
    (point[0], point[1]) <== BabyAdd()(x, y, minusHalf[0], minusHalf[1]);
}
