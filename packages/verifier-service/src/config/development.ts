import { allowsDevelopment, type Environment } from "@sotto/server";
import { computeAddress, HDNodeWallet } from "ethers";

/** The words and the path of the accounts of Hardhat and Anvil, which have ETH on local chains only. */
const PUBLIC_WORDS = "test test test test test test test test test test test junk";
const PUBLIC_PATH = "m/44'/60'/0'/0";
/** As many as both make by default. */
const PUBLIC_ACCOUNTS = 20;

/** Whether a private key, hex with 0x, is that of an account that everybody can use. */
export function isPublicAccount(key: string): boolean {
  const address = computeAddress(key);
  const parent = HDNodeWallet.fromPhrase(PUBLIC_WORDS, undefined, PUBLIC_PATH);
  return Array.from({ length: PUBLIC_ACCOUNTS }, (_, i) => parent.deriveChild(i)).some(
    (account) => account.address === address,
  );
}

/** The first of these accounts. */
const LOCAL_RELAYER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/**
 * Adds defaults for a local chain, unless NODE_ENV is production. Only the pool must be configured, and not even that after `pnpm deploy:local`.
 * Variables of the environment take precedence.
 */
export function withDevelopmentDefaults(environment: Environment): Environment {
  const merged: Record<string, string | undefined> = { ...environment };
  const hasKey = merged["SOTTO_RELAYER_KEY"] !== undefined || merged["SOTTO_RELAYER_KEY_FILE"] !== undefined;
  const local = allowsDevelopment(environment, merged["SOTTO_CHAIN_ID"]);
  if (local && !hasKey) merged["SOTTO_RELAYER_KEY"] = LOCAL_RELAYER_KEY;
  return merged;
}
