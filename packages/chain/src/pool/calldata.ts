import { CIRCUITS } from "@sotto/protocol";
import { selectorOf } from "./codec.ts";

/** A payment as a settle call contains it. */
export interface SettledCall {
  /** Groth16 proof: eight words in the order of IVerifier.sol. */
  proof: readonly bigint[];
  /** The public signals of the payment circuit. */
  signals: readonly bigint[];
  /** Last second in which the payment could settle. */
  validUntil: bigint;
  /** keccak256(keccak256(resourceUrl), timestamp, senderCommitment), 256 bits. */
  resourceDigest: bigint;
  /** Offset of its first word in the calldata, bytes. */
  offset: number;
}

const WORD_DIGITS = 64;
const SELECTOR_DIGITS = 8;
/** The words before the first payment: the array's offset and its length. */
const HEAD_WORDS = 2;
const PROOF_WORDS = 8;
const SIGNALS = CIRCUITS.payment.publicSignalCount;
/** proof, signals, validUntil, resourceDigest. */
const PAYMENT_WORDS = PROOF_WORDS + SIGNALS + 2;
const SELECTOR = selectorOf(`settle((uint256[${PROOF_WORDS}],uint256[${SIGNALS}],uint64,bytes32)[])`);

/**
 * The payments of a settle call, in its order.
 * @param calldata hex with 0x, lower case
 * @returns undefined if it is not exactly a settle call, for example if another contract called the pool
 */
export function decodeSettleCall(calldata: string): SettledCall[] | undefined {
  if (!calldata.startsWith(SELECTOR) || !/^0x[0-9a-f]*$/.test(calldata)) return undefined;
  const digits = calldata.slice(2 + SELECTOR_DIGITS);
  const count = digits.length / WORD_DIGITS - HEAD_WORDS;
  const word = (index: number) => BigInt(`0x${digits.slice(index * WORD_DIGITS, (index + 1) * WORD_DIGITS)}`);
  const payments = count / PAYMENT_WORDS;
  if (!Number.isInteger(payments) || payments < 0 || word(0) !== 32n || word(1) !== BigInt(payments)) return undefined;
  return Array.from({ length: payments }, (_, i) => {
    const start = HEAD_WORDS + i * PAYMENT_WORDS;
    const words = Array.from({ length: PAYMENT_WORDS }, (_, j) => word(start + j));
    return {
      proof: words.slice(0, PROOF_WORDS),
      signals: words.slice(PROOF_WORDS, PROOF_WORDS + SIGNALS),
      validUntil: words[PROOF_WORDS + SIGNALS]!,
      resourceDigest: words[PROOF_WORDS + SIGNALS + 1]!,
      offset: (SELECTOR_DIGITS + start * WORD_DIGITS) / 2,
    };
  });
}
