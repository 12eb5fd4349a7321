import { concat, keccak256, toBeHex } from "ethers";

/** Gas of a payment that is settled alone, with calldata and the quarter more that its transaction may use. */
export const PAYMENT_GAS = 480_000n;
/** Gas of a large deposit or withdrawal, likewise. */
export const SPONSORED_GAS = 750_000n;

const SAMPLE_WORDS = 32;

/** Bytes like those of a payment's transaction: some more, and no easier to compress. */
export const SAMPLE_TRANSACTION: string = concat(
  Array.from({ length: SAMPLE_WORDS }, (_, index) => keccak256(toBeHex(index, 32))),
);
