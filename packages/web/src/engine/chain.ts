// The chain that the host's configuration names.
import { type Chain, connectChain } from "@sotto/chain";
import { LOCAL_CHAIN_IDS } from "@sotto/protocol";
import type { HostConfig } from "../config.ts";
import { WebError } from "../errors.ts";

/** Interval between two reads of the chain, ms. A local chain mines a block per transaction. */
const LOOK_MS = 4_000;
const LOCAL_LOOK_MS = 1_000;
const MAX_PAUSE_MS = 15_000;
const NODE_TIMEOUT_MS = 20_000;
const MAX_RESPONSE_BYTES = 32 << 20;

export const connect = ({ nodes, deployment }: Pick<HostConfig, "nodes" | "deployment">): Chain =>
  connectChain({
    urls: [...nodes],
    chainId: BigInt(deployment.chainId),
    timeoutMs: NODE_TIMEOUT_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    retries: 1,
  });

/** Delay until the next read of the chain after this many consecutive failures, ms. */
export function pauseMs(chainId: number, failures: number): number {
  const usual = LOCAL_CHAIN_IDS.includes(BigInt(chainId)) ? LOCAL_LOOK_MS : LOOK_MS;
  return Math.min(usual * 2 ** failures, Math.max(usual, MAX_PAUSE_MS));
}

/** The hash of block 0: a restarted local chain may have the same id, pool and height. */
export async function readGenesis(chain: Chain): Promise<string> {
  const block = await chain.block(0);
  if (block === undefined) throw new WebError("CHAIN_REPLACED", "the node has no block 0");
  return block.hash;
}
