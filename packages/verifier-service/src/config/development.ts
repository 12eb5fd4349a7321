import { LOCAL_CHAIN_IDS } from "@sotto/prover";
import type { Environment } from "./config.ts";

/** Written by `pnpm deploy:local`. */
export const DEPLOYMENT_FILE = ".sotto/deployment.json";

/** The first account of Hardhat's public mnemonic: on a local chain it has ETH, anywhere else nothing. */
const LOCAL_RELAYER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/**
 * On a local chain that `pnpm deploy:local` has been on, nothing has to be configured. What the environment says comes
 * first, and an environment that names a pool gets nothing from here but a local relayer's key.
 * @param read text of a file, undefined where there is none
 */
export function withDevelopmentDefaults(
  environment: Environment,
  read: (path: string) => string | undefined,
): Environment {
  const given = environment["SOTTO_POOL"] === undefined ? deployment(read(DEPLOYMENT_FILE)) : {};
  const merged: Record<string, string | undefined> = { ...given, ...environment };
  const hasKey = merged["SOTTO_RELAYER_KEY"] !== undefined || merged["SOTTO_RELAYER_KEY_FILE"] !== undefined;
  const local = LOCAL_CHAIN_IDS.some((id) => String(id) === merged["SOTTO_CHAIN_ID"]);
  if (local && !hasKey) merged["SOTTO_RELAYER_KEY"] = LOCAL_RELAYER_KEY;
  // Codes go into a file: .sotto/phone-codes.jsonl.
  if (merged["SOTTO_POOL"] !== environment["SOTTO_POOL"] && merged["SOTTO_PHONE_REGISTRY"] === undefined)
    merged["SOTTO_PHONE_REGISTRY"] = "on";
  const phone = local && merged["SOTTO_PHONE_REGISTRY"] === "on" && merged["SOTTO_PHONE_WEBHOOK_URL"] === undefined;
  if (phone) merged["SOTTO_PHONE_SENDER"] ??= "file";
  return merged;
}

function deployment(text: string | undefined): Record<string, string> {
  if (text === undefined) return {};
  try {
    const { chainId, pool, deploymentBlock } = JSON.parse(text) as Record<string, unknown>;
    return {
      SOTTO_CHAIN_ID: String(chainId),
      SOTTO_POOL: String(pool),
      SOTTO_DEPLOYMENT_BLOCK: String(deploymentBlock),
    };
  } catch {
    // Damaged: the settings it would have given are then reported as missing.
    return {};
  }
}
