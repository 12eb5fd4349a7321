import { type Address, allowsDevelopment, type DeploymentManifest, hexToBytes, isPublicAccount } from "@sotto/protocol";
import {
  assertNoProblems,
  type Environment,
  logLevelProblems,
  readSettings,
  reportMissing,
  type ServerSettings,
  type SettingValues,
  withDeployment,
} from "@sotto/server";
import { curatorOf, minSlotSeconds } from "../../core/head.ts";
import type { OriginSet } from "../../core/set.ts";
import { CURATOR_SETTINGS, type CuratorSettings } from "./settings.ts";

/** The configuration of a curator, complete and checked. */
export interface CuratorConfig extends ServerSettings {
  /** What the curator signs as. */
  readonly set: OriginSet;
  /** Whether settings and keys for development are allowed: on a local chain, unless NODE_ENV is production. */
  readonly local: boolean;
  /** The curator's private key, 32 bytes, hex with 0x. */
  readonly key: string;
  /** JSON-RPC nodes of the chain in order of preference, at least one. */
  readonly rpcUrls: readonly string[];
  /** Timeout of one request to a node, ms. */
  readonly rpcTimeoutMs: number;
  /** Block of the pool's deployment. */
  readonly deploymentBlock: number;
  /** Blocks until an event counts, including its own. */
  readonly confirmations: number;
  /** Interval between reads of the chain, ms. */
  readonly pollMs: number;
  /** Folder of the circuits' artifacts. */
  readonly artifacts: string;
  /** Name of the set of keys. */
  readonly artifactSet: string;
  /** Threads that verify proofs; undefined: one per core. */
  readonly workers: number | undefined;
  /** `sqlite:PATH`, or `postgres://..`. */
  readonly store: string;
  /** Folder of the published files. */
  readonly folder: string;
  /** Base URLs of mirrors of the set. */
  readonly mirrors: readonly string[];
  /** At most one head in this time, seconds. */
  readonly slotSeconds: number;
  /** The curator's own words. */
  readonly description: string;
  readonly judges: JudgeConfig;
}

/** The configured judges; undefined for those that are off. */
export interface JudgeConfig {
  /** Seconds after its block before a deposit may be accepted. */
  readonly delaySeconds: number;
  /** File or URL. */
  readonly denyList: string | undefined;
  /** File or URL. */
  readonly allowList: string | undefined;
  /** How often the lists are read, ms. */
  readonly listMs: number;
  /** Contract with `isSanctioned(address)`. */
  readonly oracle: Address | undefined;
  /** A program that is asked. Times in ms. */
  readonly webhook:
    | { readonly url: string; readonly secret: string; readonly timeoutMs: number; readonly againMs: number }
    | undefined;
  /** Whether each deposit waits for a person. */
  readonly person: boolean;
}

/** The settings that a deployment manifest determines. */
export const curatorDeployment = ({ chainId, pool, deploymentBlock, set }: DeploymentManifest) => ({
  SOTTO_CHAIN_ID: String(chainId),
  SOTTO_POOL: pool,
  SOTTO_DEPLOYMENT_BLOCK: String(deploymentBlock),
  SOTTO_ARTIFACT_SET: set,
});

/** The second public account of Hardhat and Anvil: the service's relayer has the first. */
const LOCAL_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

/** Adds the manifest's settings, and defaults for a local chain. Variables of the environment take precedence. */
export function withCuratorDefaults(environment: Environment): Environment {
  const merged: Record<string, string | undefined> = { ...withDeployment(environment, curatorDeployment) };
  if (!allowsDevelopment(environment, merged["SOTTO_CHAIN_ID"])) return merged;
  merged["SOTTO_ORIGIN_NAME"] ??= "local";
  merged["SOTTO_ORIGIN_DELAY_SECONDS"] ??= "0";
  if (merged["SOTTO_ORIGIN_KEY_FILE"] === undefined) merged["SOTTO_ORIGIN_KEY"] ??= LOCAL_KEY;
  return merged;
}

/**
 * Reads the settings from the environment.
 * @throws ServerError INVALID_CONFIG; the message names every wrong variable
 */
export function readCuratorConfig(environment: Environment): CuratorConfig {
  const read = readSettings(CURATOR_SETTINGS, environment, "origins");
  reportMissing(CURATOR_SETTINGS, read, ["chainId", "pool", "originName", "originKey", "originDelaySeconds"]);
  const { values, problems } = read;
  assertNoProblems(problems);
  const settings = values as SettingValues<typeof CURATOR_SETTINGS> & ServerSettings;
  const local = allowsDevelopment(environment, settings.chainId);
  assertNoProblems([
    ...problemsOf(settings, local),
    ...logLevelProblems(settings.logLevel, ["http", "chain", "curator", "judges", "reload"]),
  ]);
  const { chainId, pool, originKey: key, originName: name } = settings;
  return {
    ...settings,
    set: { chainId: chainId!, pool: pool!, curator: curatorOf(hexToBytes(key, 32)), name: name! },
    local,
    key: key!,
    rpcUrls: settings.rpcUrls!,
    rpcTimeoutMs: settings.rpcTimeoutMs!,
    deploymentBlock: settings.deploymentBlock!,
    confirmations: settings.confirmations ?? (local ? 1 : 2),
    pollMs: settings.pollMs ?? (local ? 250 : 2_000),
    artifacts: settings.artifacts!,
    artifactSet: settings.artifactSet!,
    workers: settings.workers,
    store: settings.originStore!,
    folder: settings.originFolder!,
    mirrors: settings.originMirrors!,
    slotSeconds: settings.originSlotSeconds!,
    description: settings.originDescription!,
    judges: judgesOf(settings),
  };
}

function problemsOf(settings: CuratorSettings, local: boolean): string[] {
  const problems: string[] = [];
  const { originKey, originSlotSeconds = 0, originWebhookUrl: webhook, chainId } = settings;
  if (!local && isPublicAccount(curatorOf(hexToBytes(originKey, 32))))
    problems.push("SOTTO_ORIGIN_KEY is a public account of Hardhat and Anvil: anyone can sign heads with it");
  const slot = minSlotSeconds(chainId!);
  if (originSlotSeconds % slot !== 0) problems.push(`SOTTO_ORIGIN_SLOT_SECONDS must be a multiple of ${slot}`);
  if (webhook !== undefined && settings.originWebhookSecret === undefined)
    problems.push("SOTTO_ORIGIN_WEBHOOK_SECRET is missing: the webhook authenticates the curator with it");
  if (webhook !== undefined && !webhook.startsWith("https://") && !local)
    problems.push("SOTTO_ORIGIN_WEBHOOK_URL must be an https URL");
  for (const [variable, source] of [
    ["SOTTO_ORIGIN_DENY_LIST", settings.originDenyList],
    ["SOTTO_ORIGIN_ALLOW_LIST", settings.originAllowList],
  ] as const)
    if (source?.startsWith("http://") && !local) problems.push(`${variable} must be a file or an https URL`);
  return problems;
}

function judgesOf(settings: CuratorSettings): JudgeConfig {
  const { originWebhookUrl: url, originWebhookSecret: secret } = settings;
  const timing = { timeoutMs: settings.originWebhookTimeoutMs!, againMs: settings.originWebhookSeconds! * 1000 };
  return {
    delaySeconds: settings.originDelaySeconds!,
    denyList: settings.originDenyList,
    allowList: settings.originAllowList,
    listMs: settings.originListSeconds! * 1000,
    oracle: settings.originOracle,
    webhook: url === undefined ? undefined : { url, secret: secret!, ...timing },
    person: settings.originPerson === "on",
  };
}
