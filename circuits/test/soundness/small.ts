import type { Attack } from "../kit/attack.ts";
import { mod, P } from "../kit/field.ts";
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

/** Claims that only the first two of these values count. */
const prefix = on("lib/prefix.circom", "Prefix(4)", {
  inputs: () => ({ count: 2, values: [5, 6, 7, 0] }),
  harm: (read) => read("values[2]") !== 0n && read("count") <= 2n,
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
  prefix("prefix.flag", "a flag at an index other than count", swap("count == i + 1 ? 1 : 0", "i == 2 ? 1 : 0")),
  prefix("prefix.one_flag", "a count of 0 with values", { inputs: () => ({ count: 0, values: [5, 6, 7, 0] }) }),
  prefix("prefix.one_flag", "a count above the number of values", {
    inputs: () => ({ count: 5, values: [5, 6, 7, 0] }),
    harm: (read) => read("count") > 4n,
  }),
  prefix("prefix.one_flag", "a count of p - 1", {
    inputs: () => ({ count: P - 1n, values: [5, 6, 7, 0] }),
    harm: (read) => read("count") > 4n,
  }),
  prefix("prefix.zero_behind", "values after count", {}),
];
