import { existsSync, readFileSync } from "node:fs";
import { LOCAL_CHAIN_IDS } from "@sotto/protocol";
import type { Environment } from "@sotto/server";

/** Written by `pnpm deploy:local`. */
const DEPLOYMENT_FILE = ".sotto/deployment.json";

/**
 * On a local chain that `pnpm deploy:local` has been on, nothing has to be configured: codes go into a file. What the
 * environment says comes first.
 */
export function withDevelopmentDefaults(environment: Environment): Environment {
  const given = environment["SOTTO_POOL"] === undefined ? deployment() : {};
  const merged = { ...given, ...environment };
  const local = LOCAL_CHAIN_IDS.some((id) => String(id) === merged["SOTTO_CHAIN_ID"]);
  const ownSender = merged["SOTTO_PHONE_SENDER"] !== undefined || merged["SOTTO_PHONE_WEBHOOK_URL"] !== undefined;
  return local && !ownSender ? { ...merged, SOTTO_PHONE_SENDER: "file" } : merged;
}

function deployment(): Record<string, string> {
  if (!existsSync(DEPLOYMENT_FILE)) return {};
  try {
    const { chainId, pool } = JSON.parse(readFileSync(DEPLOYMENT_FILE, "utf8")) as Record<string, unknown>;
    return { SOTTO_CHAIN_ID: String(chainId), SOTTO_POOL: String(pool) };
  } catch {
    // Damaged: the settings it would have given are then reported as missing.
    return {};
  }
}
