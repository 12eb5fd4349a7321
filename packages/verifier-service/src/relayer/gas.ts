import { concat, keccak256, toBeHex } from "ethers";

/** Gas of a payment in its own transaction, with calldata and the reserve of a quarter. */
export const PAYMENT_GAS = 480_000n;
/** Gas of a large deposit or withdrawal, with the same reserve. */
export const SPONSORED_GAS = 750_000n;

const SAMPLE_WORDS = 32;

/** Bytes that are at least as long and as hard to compress as a payment's transaction. */
export const SAMPLE_TRANSACTION: string = concat(
  Array.from({ length: SAMPLE_WORDS }, (_, index) => keccak256(toBeHex(index, 32))),
);
