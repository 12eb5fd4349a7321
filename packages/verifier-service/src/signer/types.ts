/** A transaction of type 2 (EIP-1559) without an access list. Amounts in wei, hex in lower or mixed case. */
export interface UnsignedTransaction {
  readonly type: 2;
  /** EIP-155 id. */
  readonly chainId: bigint;
  /** The number of the account's earlier transactions. */
  readonly nonce: number;
  /** The contract or account that is called. */
  readonly to: string;
  /** Calldata, hex. */
  readonly data: string;
  /** Wei that it transfers. */
  readonly value: bigint;
  /** Maximum units of gas. */
  readonly gasLimit: bigint;
  /** Wei per unit of gas. */
  readonly maxFeePerGas: bigint;
  /** Wei per unit of gas, for the block's proposer. */
  readonly maxPriorityFeePerGas: bigint;
}

/** Signs transactions of one account; for example an ethers Wallet. */
export interface TransactionSigner {
  /** Its account, hex. */
  readonly address: string;
  /**
   * Signs a transaction of the account.
   * @returns the signed transaction, hex
   */
  signTransaction(transaction: UnsignedTransaction): Promise<string>;
  /** Rejects if it cannot sign now. Absent if it always can. */
  check?(): Promise<void>;
}
