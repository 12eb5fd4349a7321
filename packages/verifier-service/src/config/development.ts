import { LOCAL_CHAIN_IDS } from "@sotto/protocol";
import { type Environment, LOCAL_DEPLOYMENT } from "@sotto/server";

/** The first account of Hardhat's public mnemonic. It has ETH on local chains only. */
const LOCAL_RELAYER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/**
 * Adds defaults for a local chain. Only the pool must be configured, and not even that after `pnpm deploy:local`.
 * Variables of the environment take precedence.
 */
export function withDevelopmentDefaults(environment: Environment): Environment {
  const merged: Record<string, string | undefined> = { ...environment };
  const hasKey = merged["SOTTO_RELAYER_KEY"] !== undefined || merged["SOTTO_RELAYER_KEY_FILE"] !== undefined;
  const local = LOCAL_CHAIN_IDS.some((id) => String(id) === merged["SOTTO_CHAIN_ID"]);
  if (local && !hasKey) merged["SOTTO_RELAYER_KEY"] = LOCAL_RELAYER_KEY;
  // The sender "file" writes codes to .sotto/phone-codes.jsonl.
  if (merged["SOTTO_DEPLOYMENT"] === LOCAL_DEPLOYMENT) merged["SOTTO_PHONE_REGISTRY"] ??= "on";
  const phone = local && merged["SOTTO_PHONE_REGISTRY"] === "on" && merged["SOTTO_PHONE_WEBHOOK_URL"] === undefined;
  if (phone) merged["SOTTO_PHONE_SENDER"] ??= "file";
  return merged;
}
