// Narrow interfaces to the rest of the service, for the code that checks and settles.

import type { Address } from "@sotto/protocol";
import type { AdmittedPayment } from "@sotto/server";
import type { AuthorizationId } from "./pool/authorizations.ts";

/** The conditions under which the service settles payments, besides its own. */
export interface PaymentPolicies {
  /** Asks every extension about a payment. @param fields those of the request @throws the extensions' errors */
  admit(payment: AdmittedPayment, fields: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Verifies proofs under the keys of this service's set. */
export interface ProofVerifier {
  /**
   * @param proof eight decimal strings; @param signals decimal strings in order
   * @param client the client that asks, an id made by `clientIds`
   * @returns whether the proof is valid. Rejects with a code `PROOF_*` or `SIGNAL*` if a value does not decode.
   */
  verify(circuit: string, proof: readonly string[], signals: readonly string[], client: string): Promise<boolean>;
}

/**
 * The current state of the pool. Rejects with CHAIN_UNAVAILABLE, also if the answer is only "no" because all nodes are
 * behind.
 */
export interface PoolState {
  isKnownRoot(root: bigint): Promise<boolean>;
  isSpent(nullifier: bigint): Promise<boolean>;
  /** An account's balance of the pool's token, base units. Too low if the node is behind. */
  tokensOf(account: string): Promise<bigint>;
  /**
   * Whether a deployed contract account accepts a signature of a digest (EIP-1271), also one that runs by delegation
   * (EIP-7702). The check has a gas limit.
   */
  acceptsSignature(account: Address, digest: string, signature: string): Promise<boolean>;
  /** As of the newest block of all nodes: `tokensOf` of the depositor, and whether its authorization was used or cancelled. */
  newestOf(authorization: AuthorizationId): Promise<{ readonly tokens: bigint; readonly isUsed: boolean }>;
  /** Whether an account has approved Permit2 for this many base units. Not answered with "no" by a node that is behind. */
  permit2Allows(owner: string, needed: bigint): Promise<boolean>;
  /** The nonce of an account's next EIP-2612 permit; undefined if the token has no permits. */
  permitNonceOf(owner: string): Promise<bigint | undefined>;
}

/** The relayer, as request handlers use it. */
export interface RelayerPort {
  /** The account that responses name. */
  readonly address: string;
  /** The accounts that pay the gas. */
  readonly addresses: readonly string[];
  /** Starts a round, because an operation was queued. */
  wake(): void;
  /** Waits until the operation's outcome is known, at most `ms` and not after `signal` aborts. */
  waitFor(id: string, ms: number, signal?: AbortSignal): Promise<unknown>;
}
