import type { Bytes32 } from "../contexts.ts";

/** What the contract needs to settle a payment: `IShieldedPool.Payment`. Numbers are decimal. */
export interface PaymentCall {
  proof: readonly string[];
  /** The ten public signals. */
  signals: readonly string[];
  /** Seconds. */
  validUntil: string;
  resourceDigest: Bytes32;
}

/** What the contract needs for a withdrawal or a merge: `IShieldedPool.Withdrawal`. Numbers are decimal. */
export interface WithdrawalCall {
  proof: readonly string[];
  /** The thirteen public signals. */
  signals: readonly string[];
  recipient: string;
  /** Base units, part of the amount. */
  fee: string;
  feeRecipient: string;
  /** Seconds. */
  validUntil: string;
}

/** Arguments of `depositWithAuthorization`: the depositor's EIP-3009 signature and the notes. Numbers are decimal. */
export interface DepositCall {
  from: string;
  ownerTags: readonly string[];
  /** Base units, one for each tag. */
  amounts: readonly string[];
  salt: Bytes32;
  /** Seconds. */
  validAfter: string;
  /** Seconds. */
  validBefore: string;
  v: number;
  r: string;
  s: string;
}
