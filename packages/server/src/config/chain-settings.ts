import { address, httpUrl, integer, list, type Parse, text, wrong } from "./parse.ts";
import { live, setting } from "./setting.ts";

const nodes: Parse<readonly string[]> = (value) => {
  const urls = list(httpUrl)(value);
  return urls.length > 0 ? urls : wrong("the URL of at least one node");
};

/** Settings of the pool that the server serves, and of its chain's nodes. */
export const CHAIN_SETTINGS = {
  deployment: setting(
    "SOTTO_DEPLOYMENT",
    text,
    undefined,
    "path of a deployment manifest: chain id, pool, deployment block and artifact set",
  ),
  chainId: setting("SOTTO_CHAIN_ID", integer(1), undefined, "EIP-155 chain id; required without a manifest"),
  pool: setting("SOTTO_POOL", address, undefined, "address of the ShieldedPool; required without a manifest"),
  rpcUrls: live(
    setting(
      "SOTTO_RPC_URLS",
      nodes,
      "http://127.0.0.1:8545",
      "JSON-RPC nodes, comma-separated, in order of preference",
      true,
    ),
  ),
  rpcTimeoutMs: live(
    setting("SOTTO_RPC_TIMEOUT_MS", integer(100, 60_000), "5000", "timeout of one request to a node, ms"),
  ),
} as const;
