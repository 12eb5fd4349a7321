import type { Attack } from "../kit/attack.ts";
import { curveAttacks } from "./curve.ts";
import { elgamalAttacks } from "./elgamal.ts";
import { hashAttacks } from "./hashes.ts";
import { merkleAttacks } from "./merkle.ts";
import { scalarAttacks } from "./scalar.ts";
import { smallAttacks } from "./small.ts";

/** Every attack, by area. A constraint group may have several. */
export const attacks: readonly Attack[] = [
  ...smallAttacks,
  ...hashAttacks,
  ...merkleAttacks,
  ...curveAttacks,
  ...scalarAttacks,
  ...elgamalAttacks,
];
