import type { Bytes32 } from "../contexts.ts";

/** The argument of a call that settles a payment, `IShieldedPool.Payment`. Numbers are decimal strings. */
export interface PaymentCall {
  /** Groth16 proof of the payment circuit: eight words in the order of IVerifier.sol. */
  proof: readonly string[];
  signals: readonly string[];
  /** Last second in which the payment may settle, Unix time. */
  validUntil: string;
  /** keccak256(keccak256(resourceUrl), timestamp, senderCommitment). */
  resourceDigest: Bytes32;
}

/**
 * A call that withdraws or merges; `withdrawalArgument` makes the contract's argument from it. Numbers are decimal strings.
 */
export interface WithdrawalCall {
  /** Groth16 proof of the withdrawal circuit: eight words in the order of IVerifier.sol. */
  proof: readonly string[];
  /** The thirteen signals. */
  signals: readonly string[];
  /** Receives amount - fee; 20 bytes, hex with 0x. */
  recipient: string;
  /** Base units, part of the amount. */
  fee: string;
  /** Receives the fee; 20 bytes, hex with 0x. */
  feeRecipient: string;
  /** Last second in which it may be executed, Unix time. */
  validUntil: string;
}

/**
 * Arguments of `depositWithAuthorization` or, with `permit2`, of `depositWithPermit2`: the notes, and the depositor's signature
 * of the token's EIP-3009 message or of Permit2's. Numbers are decimal strings.
 */
export interface DepositCall {
  /** The account that signed and whose tokens are deposited, 20 bytes, hex with 0x. */
  from: string;
  /** Owner tag of each note, 1 to p - 1. */
  ownerTags: readonly string[];
  /** Base units, one for each tag. */
  amounts: readonly string[];
  /** Any value; makes the nonces of two equal deposits different. */
  salt: Bytes32;
  /** The authorization is valid after this second, Unix time. */
  validAfter: string;
  /** The authorization is valid before this second, Unix time. */
  validBefore: string;
  /**
   * r, s and v, 65 bytes, hex with 0x; or the signature of a contract account or of an account with a delegation, in its own
   * format, at most MAX_DEPOSIT_SIGNATURE_BYTES.
   */
  signature: string;
  /** Present if the signature is for Permit2, which has no validAfter: that is "0" then. */
  permit2?: {
    /**
     * Approves Permit2 first: r, s and v of an EIP-2612 permit for the sum of the notes and the same deadline, 65 bytes, hex with
     * 0x. Absent if the account approved Permit2 before.
     */
    permit?: string | undefined;
  };
}
