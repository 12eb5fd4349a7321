import { P } from "@sotto/certify/check/field";
import type { Attack } from "../kit/attack.ts";
import type { Inputs } from "../kit/witness.ts";
import { Random } from "../model/random.ts";
import { makeRange, type RangeChoices } from "../model/range.ts";
import { swap } from "./define.ts";

const AMOUNT = 1_000_000n;
const state = (chosen: Partial<RangeChoices> = {}, shown: Inputs = {}): Inputs => ({
  ...makeRange(new Random(8), { amount: AMOUNT, lowerBound: AMOUNT, upperBound: AMOUNT, ...chosen }).inputs,
  ...shown,
});
const honest = makeRange(new Random(8), { amount: AMOUNT, lowerBound: AMOUNT, upperBound: AMOUNT });
const [rx, cx, keyX, tag] = honest.signals as [bigint, bigint, bigint, bigint];

const attack = (id: string, title: string, own: Partial<Attack> & Pick<Attack, "inputs" | "harm">): Attack => ({
  tag: `elgamal_range.${id}`,
  title,
  main: "elgamal_range.circom",
  ...own,
});
/** The checked difference is not the claimed one. */
const zero = (difference: string) => swap(`cut0.value <-- ${difference}`, "cut0.value <-- 0");

export const rangeAttacks: readonly Attack[] = [
  attack("amount_range", "an amount between the bounds that is not the one encrypted", {
    ...swap("cut0.value <-- amount", "cut0.value <-- 7"),
    inputs: () => state({}, { encryptedAmount: makeRange(new Random(8), { amount: 7n }).signals.slice(0, 2) }),
    harm: (read) => read("encryptedAmount[1]") !== cx && read("lowerBound") === AMOUNT,
  }),
  attack("lower_range", "a lower bound of -5", {
    ...zero("lowerBound"),
    inputs: () => state({ lowerBound: P - 5n }),
    harm: (read) => read("lowerBound") >= 2n ** 64n,
  }),
  attack("upper_range", "an upper bound of 2^64", {
    ...zero("upperBound"),
    inputs: () => state({ upperBound: 2n ** 64n }),
    harm: (read) => read("upperBound") >= 2n ** 64n,
  }),
  attack("lower", "an amount one below the lower bound", {
    ...zero("amount - lowerBound"),
    inputs: () => state({ lowerBound: AMOUNT + 1n }),
    harm: (read) => read("encryptedAmount[1]") === cx && read("lowerBound") > AMOUNT,
  }),
  attack("upper", "an amount one above the upper bound", {
    ...zero("upperBound - amount"),
    inputs: () => state({ upperBound: AMOUNT - 1n, lowerBound: 0n }),
    harm: (read) => read("encryptedAmount[1]") === cx && read("upperBound") < AMOUNT,
  }),
  attack("encryption", "a ciphertext of another amount", {
    ...swap(
      "cut0.amountBits <-- amountBits;",
      "for (var s = 0; s < 64; s++) { cut0.amountBits[s] <-- s == 5 ? 1 - amountBits[s] : amountBits[s]; }",
    ),
    inputs: () =>
      state({}, { encryptedAmount: makeRange(new Random(8), { amount: AMOUNT ^ 32n }).signals.slice(0, 2) }),
    harm: (read) => read("encryptedAmount[1]") !== cx && read("lowerBound") === AMOUNT,
  }),
  attack("key", "the key of another recipient", {
    inputs: () => state({}, { recipientKey: 666n }),
    harm: (read) => read("recipientKey") !== keyX,
  }),
  attack("ephemeral", "another R", {
    inputs: () => state({}, { encryptedAmount: [666n, cx] }),
    harm: (read) => read("encryptedAmount[0]") !== rx,
  }),
  attack("cipher", "another C", {
    inputs: () => state({}, { encryptedAmount: [rx, 666n] }),
    harm: (read) => read("encryptedAmount[1]") !== cx,
  }),
  attack("tag", "the proof with another tag", {
    ...swap("cut0.value <-- recipientTag", "cut0.value <-- 1"),
    inputs: () => state({}, { recipientTag: 2n }),
    harm: (read) => read("recipientTag") !== tag,
  }),
];
