/** Creation code that returns block.number: NUMBER, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN. */
const BLOCK_NUMBER = "0x435f5260205ff3";
/** More blocks than a chain grows between two requests. */
const MAX_DIFFERENCE = 1_000n;

/**
 * Whether contracts see the node's block numbers. On some rollups (Arbitrum) they see those of the parent chain: the pool's
 * checkpoints would then end at other blocks than its events show, and nobody could tell where an append may end.
 */
export async function countsBlocksAlike(
  ask: (method: string, params: unknown[]) => Promise<unknown>,
): Promise<boolean> {
  const seen = BigInt(String(await ask("eth_call", [{ data: BLOCK_NUMBER }, "latest"])));
  const apart = seen - BigInt(String(await ask("eth_blockNumber", [])));
  return apart < MAX_DIFFERENCE && apart > -MAX_DIFFERENCE;
}
