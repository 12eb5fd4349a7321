/** Creation code that returns block.number: NUMBER, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN. */
const BLOCK_NUMBER = "0x435f5260205ff3";
/** Maximum difference, blocks: a chain grows by less between two requests. */
const MAX_DIFFERENCE = 1_000n;

/**
 * Whether `block.number` in contracts equals the node's block number. On some rollups (Arbitrum) contracts see the parent
 * chain's block numbers. The pool's checkpoints would then end at different blocks than its events show, and no appender could
 * compute where an append may end.
 */
export async function hasSameBlockNumbers(
  ask: (method: string, params: unknown[]) => Promise<unknown>,
): Promise<boolean> {
  const seen = BigInt(String(await ask("eth_call", [{ data: BLOCK_NUMBER }, "latest"])));
  const apart = seen - BigInt(String(await ask("eth_blockNumber", [])));
  return apart < MAX_DIFFERENCE && apart > -MAX_DIFFERENCE;
}
