/** EIP-1559 fees per unit of gas, wei. */
export interface Fees {
  maxFee: bigint;
  /** The part for the block builder. */
  maxPriority: bigint;
}

/** The maximum that the relayer offers. */
export interface FeeCaps {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * The fees that a transaction should offer now: twice the base fee, which is enough for six full blocks. Undefined while the
 * base fee exceeds the cap; nothing should be sent then.
 */
export function feesFor(baseFee: bigint, suggested: bigint, caps: FeeCaps): Fees | undefined {
  if (baseFee > caps.maxFeePerGas) return undefined;
  const maxPriority = min(suggested, min(caps.maxPriorityFeePerGas, caps.maxFeePerGas));
  const maxFee = min(2n * baseFee + maxPriority, caps.maxFeePerGas);
  return { maxFee: max(maxFee, 1n), maxPriority: min(maxPriority, max(maxFee, 1n)) };
}

/** Nodes require a replacement to offer more in both fees: geth 10%, others 12.5%. */
const raise = (wei: bigint): bigint => wei + wei / 8n + 1n;

/** The fees of a replacement for `old`; undefined if they exceed the cap. */
export function replacementFees(old: Fees, current: Fees | undefined, caps: FeeCaps): Fees | undefined {
  const maxFee = max(raise(old.maxFee), current?.maxFee ?? 0n);
  const maxPriority = max(raise(old.maxPriority), current?.maxPriority ?? 0n);
  if (maxFee > caps.maxFeePerGas) return undefined;
  return { maxFee: max(maxFee, maxPriority), maxPriority };
}
