import { allowsDevelopment } from "@sotto/protocol";
import type { Environment } from "@sotto/server";

/** The first public account of Hardhat and Anvil. */
const LOCAL_RELAYER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/**
 * Adds defaults for a local chain, unless NODE_ENV is production. Only the pool must be configured, and not even that after `pnpm deploy:local`.
 * Variables of the environment take precedence.
 */
export function withDevelopmentDefaults(environment: Environment): Environment {
  const merged: Record<string, string | undefined> = { ...environment };
  const keys = ["SOTTO_RELAYER_KEY", "SOTTO_SIGNER_URL"].flatMap((name) => [name, `${name}_FILE`]);
  const hasKey = keys.some((name) => merged[name] !== undefined);
  const local = allowsDevelopment(environment, merged["SOTTO_CHAIN_ID"]);
  if (local && !hasKey) merged["SOTTO_RELAYER_KEY"] = LOCAL_RELAYER_KEY;
  return merged;
}
