pragma circom 2.2.0;

// Edwards form of Baby Jubjub, a x^2 + y^2 = 1 + d x^2 y^2 with a = 168700, d = 168696. a is a square and d is not, so
// the denominators 1 +- d x1 x2 y1 y2 are never 0. Addition is complete: it works for any two points of the curve.
function EDWARDS_D() {
    return 168696;
}

// x = u / v of a Montgomery point with v != 0, that is, of every point of the curve except (0, 0).
template EdwardsX() {
    // Montgomery (u, v) of a point of the curve, v != 0. The caller constrains it.
    signal input point[2];
    // Edwards x of the same point. Constrained by [C:edwards.x].
    signal output x;

    x <-- point[0] / point[1];
    // [C:edwards.x] Since v is not 0, there is exactly one such x.
    x * point[1] === point[0];
}

// y = (u - 1) / (u + 1) of a Montgomery point. u + 1 is never 0: at u = -1, the right side of the curve's equation is
// A - 2 = 168696, which is not a square.
template EdwardsY() {
    // Montgomery (u, v) of a point of the curve. The caller constrains it.
    signal input point[2];
    // Edwards y of the same point. Constrained by [C:edwards.y].
    signal output y;

    y <-- (point[0] - 1) / (point[0] + 1);
    // [C:edwards.y] Since u + 1 is not 0, there is exactly one such y.
    y * (point[0] + 1) === point[0] - 1;
}

// x of a + b: circomlib's BabyAdd without the constraints for y, which is not needed.
template EdwardsSumX() {
    // Edwards (x, y) of a point of the curve. The caller constrains it.
    signal input a[2];
    // Edwards (x, y) of a point of the curve. The caller constrains it.
    signal input b[2];
    // Edwards x of the sum. Constrained by [C:edwards.sum_x].
    signal output x;

    // [C:edwards.sum_products] The terms x1 y2 and y1 x2 of the addition law, and their product.
    signal left <== a[0] * b[1];
    signal right <== a[1] * b[0];
    signal product <== left * right;

    x <-- (left + right) / (1 + EDWARDS_D() * product);
    // [C:edwards.sum_x] The addition law for x. Its denominator is never 0 for points of the curve.
    x * (1 + EDWARDS_D() * product) === left + right;
}
