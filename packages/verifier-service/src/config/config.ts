import { allowsDevelopment } from "@sotto/protocol";
import { assertAllowedOnChain } from "@sotto/prover";
import {
  assertNoProblems,
  type Environment,
  liveValues,
  logLevelProblems,
  readSettings,
  reportMissing,
  type ServiceExtension,
  type ServicePlace,
  type SettingChanges,
  type SettingTable,
  settingChanges,
} from "@sotto/server";
import { ServiceError } from "../errors.ts";
import { DEFAULT_RELAYER_CONFIG, LOCAL_RELAYER_CONFIG } from "../relayer/types.ts";
import { reportAccounts } from "./accounts.ts";
import { assertExtensions } from "./extensions.ts";
import { allSettings, SETTINGS, type Settings } from "./settings.ts";

export type { Environment } from "@sotto/server";

type Required<K extends keyof Settings> = { readonly [Name in K]: NonNullable<Settings[Name]> };
type Optional =
  | "signerUrl"
  | "signerCa"
  | "signerCertificate"
  | "signerCertificateKey"
  | "settingsFile"
  | "maxFeePerGas"
  | "maxPriorityFeePerGas"
  | "clientQuota"
  | "sponsorQuota"
  | "publicUrl"
  | "metricsPort"
  | "deployment"
  | "tokenKey"
  | "workers"
  | "feeTag"
  | "settleWaitMs";
type WithFallback = Exclude<keyof Settings, Optional>;

/** An extension and the values of its settings. */
export interface ConfiguredExtension {
  readonly extension: ServiceExtension;
  /** Parsed and checked. */
  readonly settings: Readonly<Record<string, never>>;
}

/** All settings, parsed and checked. Times are in ms unless the name says otherwise. */
export type Config = Required<WithFallback> &
  Settings & {
    /** Whether settings and keys for development are allowed: on a local chain, unless NODE_ENV is production. */
    readonly local: boolean;
    /** How long a request for a deposit or withdrawal waits by default; see operations/hold.ts. */
    readonly relayWaitMs: number;
    /** The settings as they were read: defaults that derive from other settings are missing. */
    readonly given: Settings;
    /** The extensions of the service, with their settings. */
    readonly extensions: readonly ConfiguredExtension[];
  };

/**
 * Maximum time for a payment's confirmations, so that a payment that settles in time is still fresh when it is shown.
 */
const MAX_CONFIRMATION_MS = 60_000;
const MIN_RELAY_WAIT_MS = 10_000;
/** The default of SOTTO_MAX_HEAD_AGE_MS: this many block times, at least MIN_HEAD_AGE_MS. */
const HEAD_BLOCKS = 5;
const MIN_HEAD_AGE_MS = 60_000;
/** The parts whose logs have a level of their own; each extension has one too. */
const LOG_PARTS = ["http", "relayer", "chain", "store", "keys", "discovery", "reload"];
/** The default of SOTTO_DISCOVERY_DELAY_HOURS. */
const DISCOVERY_DELAY_HOURS = 24;

/**
 * Reads the settings from the environment.
 * @throws ServerError INVALID_CONFIG; the message names every wrong variable. ServiceError CONFIRMATIONS_TOO_SLOW,
 *   EXTENSION_INVALID
 */
export function readConfig(environment: Environment, extensions: readonly ServiceExtension[] = []): Config {
  assertExtensions(extensions);
  const read = readSettings(allSettings(extensions), environment);
  const { values, problems } = read;
  const settings = pick(values, SETTINGS) as Settings;
  reportMissing(SETTINGS, { values: settings, problems }, ["chainId", "pool"]);
  if ((settings.depositFee ?? 0) > 0 && settings.feeTag === undefined)
    problems.push("SOTTO_FEE_TAG is missing: SOTTO_DEPOSIT_FEE needs an owner tag that the fees go to");
  if (settings.logLevel !== undefined)
    problems.push(...logLevelProblems(settings.logLevel, [...LOG_PARTS, ...extensions.map(({ name }) => name)]));
  const local = allowsDevelopment(environment, settings.chainId);
  reportAccounts({ values: settings, problems }, local);
  assertNoProblems(problems);
  const config = complete(settings, local);
  const configured = extensions.map((extension) => ({
    extension,
    settings: pick(values, extension.settings ?? {}) as ConfiguredExtension["settings"],
  }));
  const place = placeOf(config);
  assertNoProblems(
    configured.flatMap(({ extension, settings: own }) => extension.problems?.(own, place, environment) ?? []),
  );
  return { ...config, extensions: configured };
}

/** What a running service takes from new settings. */
export interface LiveConfig {
  /** The running configuration with the new values of all live settings, and what derives from them. */
  readonly config: Config;
  readonly changes: SettingChanges;
}

/** Takes the values of live settings from a configuration that was read again. */
export function liveConfig(running: Config, next: Config): LiveConfig {
  const given = { ...running.given, ...liveValues(SETTINGS, next.given) };
  const extensions = running.extensions.map(({ extension, settings: own }, index) => ({
    extension,
    settings: {
      ...own,
      ...liveValues(extension.settings ?? {}, next.extensions[index]?.settings ?? {}),
    } as ConfiguredExtension["settings"],
  }));
  const changes = [
    settingChanges(SETTINGS, running.given, next.given),
    ...running.extensions.map(({ extension, settings: own }, index) =>
      settingChanges(extension.settings ?? {}, own, next.extensions[index]?.settings ?? {}),
    ),
  ];
  return {
    config: { ...complete(given, running.local), extensions },
    changes: { live: changes.flatMap(({ live }) => live), fixed: changes.flatMap(({ fixed }) => fixed) },
  };
}

/** What extensions may know of the configuration, which has secrets. */
export const placeOf = ({ chainId, pool, publicUrl, local }: Omit<Config, "extensions">): ServicePlace => ({
  chainId,
  pool: pool as ServicePlace["pool"],
  publicUrl,
  local,
});

/** The values of these settings. */
const pick = (values: Readonly<Record<string, unknown>>, table: SettingTable): Record<string, unknown> =>
  Object.fromEntries(Object.keys(table).map((name) => [name, values[name]]));

function complete(settings: Settings, local: boolean): Omit<Config, "extensions"> {
  const defaults = local ? LOCAL_RELAYER_CONFIG : DEFAULT_RELAYER_CONFIG;
  const confirmations = settings.confirmations ?? defaults.confirmations;
  const blockTimeMs = settings.blockTimeMs ?? defaults.blockSeconds * 1000;
  const confirmed = confirmations * blockTimeMs;
  if (confirmed > MAX_CONFIRMATION_MS) {
    const message = `SOTTO_CONFIRMATIONS times SOTTO_BLOCK_TIME_MS is ${confirmed} ms, but at most ${MAX_CONFIRMATION_MS} are allowed`;
    throw new ServiceError("CONFIRMATIONS_TOO_SLOW", message, { confirmed });
  }
  const {
    settleWaitMs: relayWaitMs = Math.max(MIN_RELAY_WAIT_MS, confirmed + 2 * blockTimeMs),
    appendAfterMs = defaults.appendAfter,
    pollMs = defaults.pollInterval,
    // A local chain produces blocks only while it is used.
    discoveryDelayHours = local ? 0 : DISCOVERY_DELAY_HOURS,
    // Quotas then stay as they were before the secret had a setting of its own.
    clientSecret = settings.relayerKeys![0]!,
    maxHeadAgeMs = local ? 0 : Math.max(MIN_HEAD_AGE_MS, HEAD_BLOCKS * blockTimeMs),
  } = settings;
  return {
    ...(settings as Config),
    confirmations,
    blockTimeMs,
    relayWaitMs,
    appendAfterMs,
    pollMs,
    maxHeadAgeMs,
    discoveryDelayHours,
    clientSecret,
    local,
    given: settings,
  };
}

/** @throws ProverError DEVELOPMENT_KEYS_REFUSED */
export function assertKeysAllowed(set: string, { chainId, local }: Config): void {
  assertAllowedOnChain(set, chainId, !local);
}
