pragma circom 2.2.0;

// Edwards form of Baby Jubjub, a x^2 + y^2 = 1 + d x^2 y^2 with a = 168700, d = 168696. a is a square and d is none, so
// the denominators 1 +- d x1 x2 y1 y2 are never 0: addition is complete, it needs no argument about its operands.
function EDWARDS_D() {
    return 168696;
}

// x = u / v of a Montgomery point with v != 0: every point of the curve but (0, 0) has one.
template EdwardsX() {
    signal input point[2];
    signal output x;

    x <-- point[0] / point[1];
    // [C:edwards.x] as v is not 0, there is one such x.
    x * point[1] === point[0];
}

// y = (u - 1) / (u + 1) of a Montgomery point. u + 1 is never 0: at u = -1 the right side of the curve's equation is
// A - 2 = 168696, which is no square.
template EdwardsY() {
    signal input point[2];
    signal output y;

    y <-- (point[0] - 1) / (point[0] + 1);
    // [C:edwards.y] as u + 1 is not 0, there is one such y.
    y * (point[0] + 1) === point[0] - 1;
}

// x of a + b: BabyAdd of circomlib without the constraints for the y that nobody asks for.
template EdwardsSumX() {
    signal input a[2];
    signal input b[2];
    signal output x;

    // [C:edwards.sum_products] the terms x1 y2, y1 x2 of the addition law and their product.
    signal left <== a[0] * b[1];
    signal right <== a[1] * b[0];
    signal product <== left * right;

    x <-- (left + right) / (1 + EDWARDS_D() * product);
    // [C:edwards.sum_x] the addition law; its denominator is never 0 for points of the curve.
    x * (1 + EDWARDS_D() * product) === left + right;
}
