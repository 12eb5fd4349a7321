pragma circom 2.2.0;

// Turns the bits of `value`, lowest first, into signs: signs[i] = v for 1 and -v for 0. In this form, a sign is already
// the v of a point or of its negative, so no product of a bit and v is needed.
template Signs(n) {
    // n bits, which tell the witness generator which signs to choose. Not constrained, because any signs are allowed.
    signal input value;
    // The scale of the signs, a field element that is not 0. The caller constrains it.
    signal input v;
    // v^2. The caller constrains it.
    signal input square;
    // v or -v for each bit. Constrained by [C:signs.square].
    signal output signs[n];

    for (var i = 0; i < n; i++) {
        signs[i] <-- ((value >> i) & 1) == 1 ? v : -v;
        // [C:signs.square] The square roots of v^2 are v and -v. This replaces the constraint that makes a bit boolean.
        signs[i] * signs[i] === square;
    }
}
