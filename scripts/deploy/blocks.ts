/** Creation code that returns block.number: NUMBER, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN. */
const BLOCK_NUMBER = "0x435f5260205ff3";
/** More than a node is behind itself between two questions. */
const APART = 1_000n;

/**
 * Whether contracts count blocks as the node does. Some rollups show them the numbers of the chain below (Arbitrum does):
 * the pool then closes its checkpoints elsewhere than its events say, and nothing here finds where an append may end.
 */
export async function countsBlocksAlike(
  ask: (method: string, params: unknown[]) => Promise<unknown>,
): Promise<boolean> {
  const seen = BigInt(String(await ask("eth_call", [{ data: BLOCK_NUMBER }, "latest"])));
  const apart = seen - BigInt(String(await ask("eth_blockNumber", [])));
  return apart < APART && apart > -APART;
}
