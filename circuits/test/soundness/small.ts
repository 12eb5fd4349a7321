import { mod, P } from "@sotto/certify/check/field";
import type { Attack } from "../kit/attack.ts";
import { on, swap } from "./define.ts";

const bound = on("lib/bound.circom", "Bound()", {
  inputs: () => ({ value: 8 }),
  harm: (read) => read("square") !== read("value") ** 2n,
});
const bits = on("lib/range.circom", "Bits(64)", { harm: (read) => read("value") >= 2n ** 64n });
const range = on("lib/range.circom", "Range(64)", { harm: (read) => read("value") >= 2n ** 64n });
const LOW = "18446744073709551615";

const polynomial = on("lib/polynomial.circom", "Polynomial(3)", {
  inputs: () => ({ coefficients: [5, 7, 11], at: P - 2n }),
  harm: (read) => read("value") !== mod(5n - 2n * 7n + 4n * 11n),
});

export const smallAttacks: readonly Attack[] = [
  bound("bound.square", "the proof for 7 with the value 8", swap("square <-- value * value", "square <-- 49")),
  ...[2n ** 64n, 2n ** 65n - 1n, P - 1n].flatMap((value) => [
    bits("range.bits", `${value} as a number of 64 bits`, {
      ...swap("cut0.in <-- value", `cut0.in <-- value & ${LOW}`),
      inputs: () => ({ value }),
    }),
    range("range.value", `${value} as a number of 64 bits that nobody reads`, {
      ...swap("cut0.value <-- value", `cut0.value <-- value & ${LOW}`),
      inputs: () => ({ value }),
    }),
  ]),
  polynomial(
    "polynomial.start",
    "a highest coefficient that is not the last",
    swap("<-- coefficients[n - 1]", "<-- coefficients[n - 1] + 1"),
  ),
  polynomial(
    "polynomial.step",
    "a step with a wrong result",
    swap("* at + coefficients[i]", "* at + coefficients[i] + 1"),
  ),
  polynomial("polynomial.value", "a value that is not the last step's", swap("<-- partial[0]", "<-- partial[0] + 1")),
];
