/** Wei a unit of gas may cost: EIP-1559. */
export interface Fees {
  maxFee: bigint;
  /** The part for the block's builder. */
  maxPriority: bigint;
}

/** What is offered at most. */
export interface FeeCaps {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * What a transaction should offer now: twice the base fee, which lasts for six full blocks. undefined while even the
 * base fee is beyond the cap: then it is not the time to send.
 */
export function feesFor(baseFee: bigint, suggested: bigint, caps: FeeCaps): Fees | undefined {
  if (baseFee > caps.maxFeePerGas) return undefined;
  const maxPriority = min(suggested, min(caps.maxPriorityFeePerGas, caps.maxFeePerGas));
  const maxFee = min(2n * baseFee + maxPriority, caps.maxFeePerGas);
  return { maxFee: max(maxFee, 1n), maxPriority: min(maxPriority, max(maxFee, 1n)) };
}

/** Nodes take a replacement that offers at least 10% more in both; geth's default, others ask for 12.5%. */
const raise = (wei: bigint): bigint => wei + wei / 8n + 1n;

/** What a replacement of `old` must offer, and should; undefined where that is beyond the cap. */
export function replacementFees(old: Fees, current: Fees | undefined, caps: FeeCaps): Fees | undefined {
  const maxFee = max(raise(old.maxFee), current?.maxFee ?? 0n);
  const maxPriority = max(raise(old.maxPriority), current?.maxPriority ?? 0n);
  if (maxFee > caps.maxFeePerGas) return undefined;
  return { maxFee: max(maxFee, maxPriority), maxPriority };
}
