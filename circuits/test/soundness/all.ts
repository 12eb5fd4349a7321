import type { Attack } from "../kit/attack.ts";
import { appendAttacks } from "./append.ts";
import { curveAttacks } from "./curve.ts";
import { elgamalAttacks } from "./elgamal.ts";
import { hashAttacks } from "./hashes.ts";
import { merkleAttacks } from "./merkle.ts";
import { originAttacks } from "./origin.ts";
import { paymentAttacks } from "./payment.ts";
import { poseidonAttacks } from "./poseidon.ts";
import { rangeAttacks } from "./range.ts";
import { scalarAttacks } from "./scalar.ts";
import { smallAttacks } from "./small.ts";
import { withdrawalAttacks } from "./withdrawal.ts";

/** Every attack, by area. A constraint group may have several. */
export const attacks: readonly Attack[] = [
  ...smallAttacks,
  ...poseidonAttacks,
  ...hashAttacks,
  ...merkleAttacks,
  ...curveAttacks,
  ...scalarAttacks,
  ...elgamalAttacks,
  ...appendAttacks,
  ...paymentAttacks,
  ...rangeAttacks,
  ...withdrawalAttacks,
  ...originAttacks,
];
