import { add, BASE8, multiply, toMontgomery } from "@sotto/certify/check/curve";
import type { Attack } from "../kit/attack.ts";
import { otherY, T2, T4, T8 } from "../model/small-order.ts";
import { on, swap } from "./define.ts";

const P = multiply(BASE8, 1234567n);
const Q = multiply(BASE8, 7654321n);
const [p, q] = [toMontgomery(P), toMontgomery(Q)];
const text = (point: readonly bigint[]) => `[${point.join(", ")}]`;
const sum = toMontgomery(add(P, Q));

/** Not on the curve: v is off by one. */
const OFF = [p[0], p[1] + 1n];

const onCurve = on("lib/montgomery.circom", "OnMontgomeryCurve()", {
  inputs: () => ({ point: OFF }),
  harm: (read) => read("point[0]") === p[0] && read("point[1]") !== p[1],
});
const scaled = on("lib/montgomery.circom", "AddScaled()", {
  inputs: () => ({ a: p, b: q, square: 1 }),
  harm: (read) => read("sum[0]") !== sum[0] || read("sum[1]") !== sum[1],
});
const x = on("lib/edwards.circom", "EdwardsX()", {
  inputs: () => ({ point: p }),
  harm: (read) => read("x") !== P.x,
});
const y = on("lib/edwards.circom", "EdwardsY()", {
  inputs: () => ({ point: p }),
  harm: (read) => read("y") !== P.y,
});
const sumX = on("lib/edwards.circom", "EdwardsSumX()", {
  inputs: () => ({ a: [P.x, P.y], b: [Q.x, Q.y] }),
  harm: (read) => read("x") !== add(P, Q).x,
});

const key = toMontgomery(multiply(Q, 8n));
const recipientKey = on("lib/recipient_key.circom", "RecipientKey()", {
  inputs: () => ({ q }),
  harm: (read) => read("key[0]") !== key[0] || read("key[1]") !== key[1],
});
/** Invalid recipient keys: no recipient could read a payment to them. */
const badKeys = {
  "the other point with the key's x": otherY(multiply(Q, 8n)),
  "the key plus a point of order 8": add(multiply(Q, 8n), T8),
  "a point of order 8": T8,
  "a point of order 4": T4,
};

export const curveAttacks: readonly Attack[] = [
  onCurve("montgomery.on_curve", "a point that is not on the curve", {}),
  scaled(
    "add_scaled.slope",
    "a sum from a line that does not go through both points",
    swap("(b[0] - a[0]);", "(b[0] - a[0]) + 1;"),
  ),
  scaled("add_scaled.u", "a sum off the line", swap("- a[0] - b[0];", "- a[0] - b[0] + 1;")),
  scaled(
    "add_scaled.v",
    "a sum that is not mirrored",
    swap("slope * (a[0] - sum[0]) - a[1]", "a[1] - slope * (a[0] - sum[0])"),
  ),
  x("edwards.x", "another x for a point", swap("x <-- point[0] / point[1]", "x <-- point[0] / point[1] + 1")),
  y(
    "edwards.y",
    "the other y for an x",
    swap("y <-- (point[0] - 1) / (point[0] + 1)", "y <-- (1 - point[0]) / (point[0] + 1)"),
  ),
  sumX("edwards.sum_products", "a sum of other points", swap("left <-- a[0] * b[1]", "left <-- a[0] * b[1] + 1")),
  sumX(
    "edwards.sum_x",
    "an x that is not the sum's",
    swap(
      "(1 + EDWARDS_D() * product);\n    // [C:edwards.sum_x]",
      "(1 + EDWARDS_D() * product) + 1;\n    // [C:edwards.sum_x]",
    ),
  ),
  recipientKey("recipient_key.on_curve", "a Q on another curve", {
    ...swap("cut0.point <-- q", `cut0.point <-- ${text(q)}`),
    inputs: () => ({ q: OFF }),
    harm: (read) => read("q[0]") === p[0] && read("q[1]") !== p[1],
  }),
  ...Object.entries(badKeys).map(([name, point]) =>
    recipientKey("recipient_key.cofactor", name, swap("key <-- cut2.out", `key <-- ${text(toMontgomery(point))}`)),
  ),
  recipientKey("recipient_key.cofactor", "the point of order 2", swap("key <-- cut2.out", "key <-- [0, 0]")),
  recipientKey("recipient_key.cofactor", "any key for a Q of order 8, whose multiple is the identity", {
    ...swap("cut2.in <-- q4", `cut2.in <-- ${text(q)}`),
    inputs: () => ({ q: toMontgomery(T8) }),
    harm: (read) => read("q[0]") === toMontgomery(T8)[0] && multiply(T8, 8n).y === 1n,
  }),
  recipientKey("recipient_key.cofactor", "any key for the Q of order 2", {
    ...swap("cut0.in <-- q;", `cut0.in <-- ${text(q)};`),
    inputs: () => ({ q: [0, 0] }),
    harm: (read) => read("q[0]") === 0n && multiply(T2, 8n).y === 1n,
  }),
];
