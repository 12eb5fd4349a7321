import { BASE8, montgomeryEighth, multiply, ORDER, type Pair, type Point } from "@sotto/certify/check/curve";
import type { Inputs } from "../kit/witness.ts";
import { type Encryption, encrypt } from "./encrypt.ts";
import type { Random } from "./random.ts";

export interface RangeChoices {
  recipientKey: Point;
  recipientQ: Pair;
  recipientTag: bigint;
  lowerBound: bigint;
  upperBound: bigint;
  scalar: bigint;
  amount: bigint;
}

/** The model's range statement: inputs of the circuit and the six expected signals. */
export function makeRange(
  random: Random,
  chosen: Partial<RangeChoices> = {},
): { inputs: Inputs; signals: bigint[]; encryption: Encryption } {
  const recipientKey = chosen.recipientKey ?? multiply(BASE8, random.below(ORDER - 1n) + 1n);
  const choices: RangeChoices = {
    recipientKey,
    recipientQ: chosen.recipientQ ?? montgomeryEighth(recipientKey),
    recipientTag: random.field(),
    lowerBound: 2n ** 40n,
    upperBound: 2n ** 41n,
    scalar: random.bits(249),
    amount: 2n ** 40n + random.bits(39),
    ...chosen,
  };
  const encryption = encrypt(recipientKey, choices.amount, choices.scalar);
  const publicInputs = {
    encryptedAmount: [encryption.R.x, encryption.C.x],
    recipientKey: recipientKey.x,
    recipientTag: choices.recipientTag,
    lowerBound: choices.lowerBound,
    upperBound: choices.upperBound,
  };
  const { recipientQ, scalar, amount } = choices;
  return {
    inputs: { ...publicInputs, recipientQ, scalar, amount },
    signals: Object.values(publicInputs).flat(),
    encryption,
  };
}
