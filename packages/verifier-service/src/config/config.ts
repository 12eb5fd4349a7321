import { readFileSync } from "node:fs";
import { assertAllowedOnChain, LOCAL_CHAIN_IDS } from "@sotto/prover";
import { ServiceError } from "../errors/errors.ts";
import { DEFAULT_RELAYER_CONFIG, LOCAL_RELAYER_CONFIG } from "../relayer/types.ts";
import type { Setting } from "./setting.ts";
import { SETTINGS, type Settings } from "./settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

type Required<K extends keyof Settings> = { readonly [Name in K]: NonNullable<Settings[Name]> };
type WithFallback = Exclude<keyof Settings, "publicUrl" | "tokenKey" | "workers" | "feeTag">;

/** All settings, read and checked. Times are ms unless named otherwise. */
export type Config = Required<WithFallback> & Settings & { readonly local: boolean };

/** What a payment's confirmations may take: what settles in time must still be fresh when its header is checked. */
export const LONGEST_CONFIRMATION_MS = 60_000;
const LEAST_WAIT_MS = 10_000;

/**
 * Reads the settings of the environment.
 * @throws ServiceError INVALID_CONFIG; the message names every wrong variable. CONFIRMATIONS_TOO_SLOW
 */
export function readConfig(environment: Environment): Config {
  const problems: string[] = [];
  const found: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(SETTINGS))
    found[name] = readSetting(setting as Setting<unknown>, environment, problems);
  const known = new Set(
    Object.values(SETTINGS).flatMap(({ variable, secret }) => [variable, secret ? `${variable}_FILE` : ""]),
  );
  for (const variable of Object.keys(environment))
    if (variable.startsWith("SOTTO_") && !known.has(variable) && !FOREIGN.has(variable))
      problems.push(`${variable} is not a setting of the service; see docs/operations.md`);
  const settings = found as Settings;
  for (const name of ["chainId", "pool", "relayerKey"] as const)
    if (settings[name] === undefined && !problems.some((problem) => problem.startsWith(SETTINGS[name].variable)))
      problems.push(`${SETTINGS[name].variable} is missing: ${SETTINGS[name].about}`);
  if (settings.rpcUrls?.length === 0) problems.push("SOTTO_RPC_URLS must name at least one node");
  if ((settings.depositFee ?? 0) > 0 && settings.feeTag === undefined)
    problems.push("SOTTO_FEE_TAG is missing: SOTTO_DEPOSIT_FEE needs an owner tag that the fees go to");
  if (problems.length > 0) throw new ServiceError("INVALID_CONFIG", problems.join("; "), { count: problems.length });
  return complete(settings);
}

/** Variables of the checkout's own tools. */
const FOREIGN = new Set(["SOTTO_LONG", "SOTTO_DEBUG", "SOTTO_TEST_EVENTS"]);

function complete(settings: Settings): Config {
  const local = LOCAL_CHAIN_IDS.includes(BigInt(settings.chainId!));
  const defaults = local ? LOCAL_RELAYER_CONFIG : DEFAULT_RELAYER_CONFIG;
  const confirmations = settings.confirmations ?? defaults.confirmations;
  const blockTimeMs = settings.blockTimeMs ?? defaults.blockSeconds * 1000;
  const confirmed = confirmations * blockTimeMs;
  if (confirmed > LONGEST_CONFIRMATION_MS) {
    const message = `SOTTO_CONFIRMATIONS times SOTTO_BLOCK_TIME_MS is ${confirmed} ms, at most ${LONGEST_CONFIRMATION_MS} are allowed`;
    throw new ServiceError("CONFIRMATIONS_TOO_SLOW", message, { confirmed });
  }
  const {
    settleWaitMs = Math.max(LEAST_WAIT_MS, confirmed + 2 * blockTimeMs),
    appendAfterMs = defaults.appendAfter,
    pollMs = defaults.pollInterval,
  } = settings;
  return { ...(settings as Config), confirmations, blockTimeMs, settleWaitMs, appendAfterMs, pollMs, local };
}

function readSetting<T>(setting: Setting<T>, environment: Environment, problems: string[]): T | undefined {
  const { variable, parse, fallback, secret } = setting;
  const value = fromFile(setting, environment, problems) ?? environment[variable];
  const given = value === undefined || value === "" ? fallback : value;
  if (given === undefined) return undefined;
  try {
    return parse(given);
  } catch (error) {
    const shown = secret || given.length > 100 ? "" : `, got ${JSON.stringify(given)}`;
    problems.push(`${variable} ${(error as Error).message}${shown}`);
    return undefined;
  }
}

function fromFile({ variable, secret }: Setting<unknown>, environment: Environment, problems: string[]) {
  const path = secret ? environment[`${variable}_FILE`] : undefined;
  if (path === undefined || path === "") return undefined;
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    problems.push(`${variable}_FILE names a file that cannot be read`);
    return undefined;
  }
}

/** @throws ProverError DEVELOPMENT_KEYS_REFUSED */
export function refuseDevelopmentKeys(set: string, config: Config): void {
  assertAllowedOnChain(set, config.chainId);
}
