import { allowsDevelopment } from "@sotto/protocol";
import {
  assertNoProblems,
  type Environment,
  logLevelProblems,
  readSettings,
  reportMissing,
  type ServerSettings,
  type SettingValues,
} from "@sotto/server";
import { type PhoneConfig, phoneConfig, phoneProblems } from "./phone-config.ts";
import { REGISTRY_SETTINGS } from "./settings.ts";

/** Configuration of a registry that runs as its own server. */
export interface RegistryConfig extends ServerSettings {
  /** EIP-155 id of the pool's chain. */
  readonly chainId: number;
  /** Address of the pool, 20 bytes, lower-case hex with 0x. */
  readonly pool: string;
  /** JSON-RPC nodes of the chain in order of preference, at least one. They check signatures of contract wallets. */
  readonly rpcUrls: readonly string[];
  /** Timeout of one request to a node, ms, 100 to 60,000. */
  readonly rpcTimeoutMs: number;
  /** The registry's own settings. */
  readonly phone: PhoneConfig;
}

/**
 * Reads the settings from the environment.
 * @throws ServerError INVALID_CONFIG; the message names every wrong variable
 */
export function readRegistryConfig(environment: Environment): RegistryConfig {
  const read = readSettings(REGISTRY_SETTINGS, environment, "phone-registry");
  reportMissing(REGISTRY_SETTINGS, read, ["chainId", "pool"]);
  const { values, problems } = read;
  assertNoProblems(problems);
  const settings = values as SettingValues<typeof REGISTRY_SETTINGS> & Omit<RegistryConfig, "phone">;
  const { chainId, pool, publicUrl } = settings;
  assertNoProblems(logLevelProblems(settings.logLevel, ["http", "chain", "phone", "reload"]));
  const deployment = { chainId, pool, publicUrl, local: allowsDevelopment(environment, chainId) };
  assertNoProblems(phoneProblems(settings, deployment));
  return { ...settings, phone: phoneConfig(settings, deployment) };
}
