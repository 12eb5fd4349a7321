import { concat, keccak256, toBeHex } from "ethers";

/** Gas of a payment in its own transaction, with calldata and the reserve of a quarter. */
export const PAYMENT_GAS = 480_000n;
/** Gas of a large deposit or withdrawal, with the same reserve. */
export const SPONSORED_GAS = 750_000n;

/** Gas of each further note of a deposit, with the same reserve. */
const NOTE_GAS = 50_000n;

/**
 * Gas limit of a deposit. The depositor's account can be a contract that the token calls to check the signature, and its code
 * decides what that costs: a passkey checked in Solidity takes about 350,000.
 */
export const depositGas = (notes: number): bigint => SPONSORED_GAS + NOTE_GAS * BigInt(notes - 1);

const SAMPLE_WORDS = 32;

/** Bytes that are at least as long and as hard to compress as a payment's transaction. */
export const SAMPLE_TRANSACTION: string = concat(
  Array.from({ length: SAMPLE_WORDS }, (_, index) => keccak256(toBeHex(index, 32))),
);
