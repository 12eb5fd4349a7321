import type { Bytes32 } from "../contexts.ts";

/** The argument of a call that settles a payment, `IShieldedPool.Payment`. Numbers are decimal strings. */
export interface PaymentCall {
  proof: readonly string[];
  /** The ten public signals. */
  signals: readonly string[];
  /** Unix time, seconds. */
  validUntil: string;
  resourceDigest: Bytes32;
}

/** The argument of a call that withdraws or merges, `IShieldedPool.Withdrawal`. Numbers are decimal strings. */
export interface WithdrawalCall {
  proof: readonly string[];
  /** The thirteen public signals. */
  signals: readonly string[];
  recipient: string;
  /** Base units, part of the amount. */
  fee: string;
  feeRecipient: string;
  /** Unix time, seconds. */
  validUntil: string;
}

/** Arguments of `depositWithAuthorization`: the depositor's EIP-3009 signature and the notes. Numbers are decimal strings. */
export interface DepositCall {
  from: string;
  ownerTags: readonly string[];
  /** Base units, one for each tag. */
  amounts: readonly string[];
  salt: Bytes32;
  /** Unix time, seconds. */
  validAfter: string;
  /** Unix time, seconds. */
  validBefore: string;
  v: number;
  r: string;
  s: string;
}
