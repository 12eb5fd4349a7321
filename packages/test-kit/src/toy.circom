pragma circom 2.0.0;

// A 2x2 matrix of numbers with a public product, and a secret that is logged and used in an assertion. This tests the
// calculator's nested arrays, assertions and logs with few constraints.
template Toy() {
    signal input product;
    signal input label;
    signal input factors[2][2];
    signal input secret;

    signal rows[2];
    rows[0] <== factors[0][0] * factors[0][1];
    rows[1] <== factors[1][0] * factors[1][1];
    product === rows[0] * rows[1];

    signal labelSquared;
    labelSquared <== label * label;

    log("secret", secret);
    signal inverse;
    inverse <-- secret == 0 ? 0 : 1 / secret;
    secret * inverse === 1;
}

component main {public [product, label]} = Toy();
