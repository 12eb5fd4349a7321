pragma circom 2.2.0;

// The bits of `value`, the lowest first, as signs: signs[i] = v for 1 and -v for 0. In this form a sign is at once the
// v of a point or its negative, and no product of a bit and v is needed. `value` only tells the witness generator
// which signs are meant: any n signs are allowed, so there is nothing to prove about it.
template Signs(n) {
    signal input value;
    signal input v;
    signal input square;
    signal output signs[n];

    for (var i = 0; i < n; i++) {
        signs[i] <-- ((value >> i) & 1) == 1 ? v : -v;
        // [C:signs.square] the roots of v^2 are v and -v: takes the place of the constraint that makes a bit boolean.
        signs[i] * signs[i] === square;
    }
}
