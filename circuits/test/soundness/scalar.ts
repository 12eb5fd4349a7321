import { add, BASE8, multiply, negate, ORDER, toMontgomery } from "@sotto/certify/check/curve";
import { mod } from "@sotto/certify/check/field";
import type { Attack } from "../kit/attack.ts";
import { ephemeralScalar } from "../model/encrypt.ts";
import { bitsOf } from "../model/tree.ts";
import { on, swap } from "./define.ts";

const P = multiply(BASE8, 1234567n);
const p = toMontgomery(P);
const text = (point: readonly bigint[]) => `[${point.join(", ")}]`;
const SCALAR = 0x155667788n;
const W = 77n;
/** Signs of the bits, lowest first, times w. */
const signs = (value: bigint, count: number, w = 1n) => bitsOf(value, count).map((bit) => mod(bit === 1n ? w : -w));
const isPoint =
  (name: string, [u, v]: readonly bigint[]) =>
  (read: (name: string) => bigint) =>
    read(`${name}[0]`) === u && read(`${name}[1]`) === v;

const carried = on("lib/signs.circom", "Signs(3)", {
  inputs: () => ({ value: 5, v: W, square: W * W }),
  harm: (read) => [0, 1, 2].some((i) => mod(read(`signs[${i}]`) ** 2n) !== W * W),
});

const doubleAndAdd = on("lib/variable_base.circom", "DoubleAndAdd()", {
  inputs: () => ({ sum: toMontgomery(multiply(P, 5n)), u: p[0], v: p[1] }),
  harm: (read) => !isPoint("out", toMontgomery(multiply(P, 11n)))(read),
});

// 2^9 + the signed sum of 8 bits.
const product = toMontgomery(multiply(P, 2n * 0xa5n + 2n ** 8n + 1n));
const variable = on("lib/variable_base.circom", "VariableBase(8)", {
  inputs: () => ({ base: p, signs: signs(0xa5n, 8, p[1]) }),
  harm: (read) => !isPoint("out", product)(read),
});

const START = multiply(BASE8, 2n ** 70n);
const bits63 = 0x5a5a5a5a_12345678n;
/** start + the sum of s_i 2^i, i below 63, times Base8. */
const fixedSum = add(START, add(multiply(BASE8, 2n * bits63), negate(multiply(BASE8, 2n ** 63n - 1n))));
const fixed = on("lib/fixed_base.circom", "FixedBase(21)", {
  inputs: () => ({ start: toMontgomery(START), signs: signs(bits63, 63), square: 1 }),
  harm: (read) => !isPoint("out", toMontgomery(fixedSum))(read),
});

const R = multiply(BASE8, ephemeralScalar(SCALAR) % ORDER);
const ephemeral = on("lib/ephemeral_point.circom", "EphemeralPoint()", {
  inputs: () => ({ signs: signs(SCALAR, 249, W), v: W, square: W * W }),
  harm: (read) => read("x") !== R.x,
});

const AMOUNT = 1_000_007n;
const amount = on("lib/amount_point.circom", "AmountPoint()", {
  inputs: () => ({ bits: bitsOf(AMOUNT, 64) }),
  harm: (read) => !isPoint("point", [multiply(BASE8, AMOUNT).x, multiply(BASE8, AMOUNT).y])(read),
});

export const scalarAttacks: readonly Attack[] = [
  carried("signs.square", "a sign of 3 v", swap("== 1 ? v : -v", "== 1 ? v : 3 * v")),
  carried("signs.square", "a sign of 0", swap("== 1 ? v : -v", "== 1 ? v : 0")),
  doubleAndAdd(
    "double_and_add.slope",
    "a line that does not go through both points",
    swap("/ (sum[0] - u);", "/ (sum[0] - u) + 1;"),
  ),
  doubleAndAdd("double_and_add.middle", "a first sum off the line", swap("- A - sum[0] - u;", "- A - sum[0] - u + 1;")),
  doubleAndAdd("double_and_add.second", "a second line that the prover chose", swap("- slope;", "- slope + 1;")),
  doubleAndAdd(
    "double_and_add.u",
    "a result off the line",
    swap("- A - middle - sum[0];", "- A - middle - sum[0] + 1;"),
  ),
  doubleAndAdd(
    "double_and_add.v",
    "the negative of the result",
    swap("<-- second * (sum[0] - out[0]) - sum[1]", "<-- sum[1] - second * (sum[0] - out[0])"),
  ),
  variable(
    "variable_base.start",
    "a start other than 2 P",
    swap("sums[0] <-- cut0.out", `sums[0] <-- ${text(toMontgomery(multiply(P, 4n)))}`),
  ),
  variable(
    "variable_base.step",
    "a step that ends elsewhere",
    swap("sums[i + 1] <-- cut0[i].out;", "sums[i + 1][0] <-- cut0[i].out[0]; sums[i + 1][1] <-- -cut0[i].out[1];"),
  ),
  variable(
    "variable_base.result",
    "a result that is not the last step's",
    swap("out <-- sums[n];", "out[0] <-- sums[n][0]; out[1] <-- -sums[n][1];"),
  ),
  fixed(
    "fixed_base.start",
    "another start",
    swap("sums[0] <-- start", `sums[0] <-- ${text(toMontgomery(multiply(START, 2n)))}`),
  ),
  fixed(
    "fixed_base.window_u",
    "a window whose point has another u",
    swap("points[k][0] <-- ", "points[k][0] <-- 1 + "),
  ),
  fixed("fixed_base.window_v", "a window whose point has another v", swap("points[k][1] <--", "points[k][1] <-- 1 +")),
  fixed(
    "fixed_base.add",
    "a window that is subtracted",
    swap("cut0[k].b <-- points[k];", "cut0[k].b[0] <-- points[k][0]; cut0[k].b[1] <-- -points[k][1];"),
  ),
  fixed(
    "fixed_base.result",
    "a result that is not the last sum",
    swap("out <-- sums[windows];", "out[0] <-- sums[windows][0]; out[1] <-- -sums[windows][1];"),
  ),
  ephemeral(
    "ephemeral_point.start",
    "the negative point",
    swap("point[2] <-- cut0.out", "point[2] <-- [cut0.out[0], -cut0.out[1]]"),
  ),
  ephemeral(
    "ephemeral_point.unscaled",
    "an x with a factor other than v",
    swap("numerator <-- v * point[0]", "numerator <-- point[0]"),
  ),
  ephemeral(
    "ephemeral_point.x",
    "an x that is not the point's",
    swap("x <-- numerator / point[1]", "x <-- numerator / point[1] + 1"),
  ),
  amount(
    "amount_point.sum",
    "another amount",
    swap("sum[2] <-- cut0.out", `sum[2] <-- ${text(toMontgomery(multiply(BASE8, 5n)))}`),
  ),
  amount("amount_point.edwards", "the negative of the amount", swap("x <-- cut0.x", "x <-- -cut0.x")),
  amount(
    "amount_point.half",
    "a point that is not the multiple",
    swap("point[0] <-- cut0.xout", "point[0] <-- cut0.xout + 1"),
  ),
];
