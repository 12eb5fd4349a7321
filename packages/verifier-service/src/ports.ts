// What checking and settling need of the rest of the service, as narrow as they use it.

/** Verifies proofs under the keys of this service's set. */
export interface ProofVerifier {
  /**
   * @param proof eight decimal strings; @param signals decimal strings in order
   * @returns whether the proof holds. What is no encoding of a proof rejects with a code `PROOF_*` or `SIGNAL*`.
   */
  verify(circuit: string, proof: readonly string[], signals: readonly string[]): Promise<boolean>;
}

/** What the pool says now. Rejects with CHAIN_UNAVAILABLE. */
export interface PoolState {
  isKnownRoot(root: bigint): Promise<boolean>;
  isSpent(nullifier: bigint): Promise<boolean>;
  /** Base units of its token that an account has. */
  tokensOf(account: string): Promise<bigint>;
  /** Whether an account's EIP-3009 authorization was used or cancelled. */
  isAuthorizationUsed(account: string, nonce: string): Promise<boolean>;
}

/** The relayer as the HTTP part uses it. */
export interface RelayerPort {
  /** Address that pays the gas. */
  readonly address: string;
  /** Something was queued: look now. */
  settle(id: string): void;
  /** Waits until the operation's outcome is known, at most `ms` and no longer than the signal permits. */
  waitFor(id: string, ms: number, signal?: AbortSignal): Promise<unknown>;
}
