import { generateAbi } from "./abi.ts";
import { generateCircuits } from "./circuits.ts";
import { generateConstants, generatePaymentSignals } from "./constants.ts";
import type { Generator } from "./generated-file.ts";
import { generateLock } from "./lock.ts";
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
