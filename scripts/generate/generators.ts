import { generateCircuits } from "@sotto/keys/generate/circuits";
import { generateConstants, generatePaymentSignals } from "@sotto/keys/generate/constants";
import type { Generator } from "@sotto/keys/generate/generated-file";
import { generateLock } from "@sotto/keys/setup/lock-source";
import { generateAbi } from "./abi.ts";
import { generateValidator } from "./validator.ts";

/** The generated sources that need the circuits, the contracts and the lock, but no built package. */
export const generators: readonly Generator[] = [
  generateCircuits,
  generateConstants,
  generatePaymentSignals,
  generateAbi,
  generateValidator,
  generateLock,
];
