import { address, httpUrl, integer, list, text } from "./parse.ts";
import { setting } from "./setting.ts";

/** Which pool it is about, and where its chain is asked. */
export const CHAIN_SETTINGS = {
  deployment: setting(
    "SOTTO_DEPLOYMENT",
    text,
    undefined,
    "manifest of a deployment: says chain id, pool, deployment block and set of keys",
  ),
  chainId: setting("SOTTO_CHAIN_ID", integer(1), undefined, "EIP-155 chain id; required, or a manifest"),
  pool: setting("SOTTO_POOL", address, undefined, "address of the ShieldedPool; required, or a manifest"),
  rpcUrls: setting(
    "SOTTO_RPC_URLS",
    list(httpUrl),
    "http://127.0.0.1:8545",
    "JSON-RPC nodes, comma-separated, in order of preference",
    true,
  ),
  rpcTimeoutMs: setting("SOTTO_RPC_TIMEOUT_MS", integer(100, 60_000), "5000", "how long a node may take to answer"),
} as const;
