import { shieldedPoolAbi } from "@sotto/protocol";
import type { World } from "@sotto/test-world/service";
import { Interface } from "ethers";

const pool = new Interface(shieldedPoolAbi);

/** Hashes of the transactions that settled the payment with this nullifier. */
export async function settlementsOf({ provider, pool: address, deploymentBlock }: World, nullifier: string) {
  const topics = pool.encodeFilterTopics("Settled", [nullifier]);
  const logs = await provider.getLogs({ address, topics, fromBlock: deploymentBlock });
  return logs.map(({ transactionHash }) => transactionHash);
}
