/** A transaction of type 2 (EIP-1559) without an access list. Amounts in wei, hex in lower or mixed case. */
export interface UnsignedTransaction {
  readonly type: 2;
  readonly chainId: bigint;
  readonly nonce: number;
  readonly to: string;
  /** Calldata, hex. */
  readonly data: string;
  readonly value: bigint;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Signs transactions of one account; for example an ethers Wallet. */
export interface TransactionSigner {
  readonly address: string;
  /** @returns the signed transaction, hex */
  signTransaction(transaction: UnsignedTransaction): Promise<string>;
  /** Rejects if it cannot sign now. Absent if it always can. */
  check?(): Promise<void>;
}
