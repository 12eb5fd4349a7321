import { assertAllowedOnChain, LOCAL_CHAIN_IDS } from "@sotto/prover";
import { type Environment, readSettings, refuseProblems, requireSettings } from "@sotto/server";
import { ServiceError } from "../errors/errors.ts";
import { DEFAULT_RELAYER_CONFIG, LOCAL_RELAYER_CONFIG } from "../relayer/types.ts";
import { SETTINGS, type Settings } from "./settings.ts";

export type { Environment } from "@sotto/server";

type Required<K extends keyof Settings> = { readonly [Name in K]: NonNullable<Settings[Name]> };
type WithFallback = Exclude<keyof Settings, "publicUrl" | "tokenKey" | "workers" | "feeTag">;

/** All settings, read and checked. Times are ms unless named otherwise. */
export type Config = Required<WithFallback> & Settings & { readonly local: boolean };

/** What a payment's confirmations may take: what settles in time must still be fresh when its header is checked. */
export const LONGEST_CONFIRMATION_MS = 60_000;
const LEAST_WAIT_MS = 10_000;

/**
 * Reads the settings of the environment.
 * @throws ServerError INVALID_CONFIG; the message names every wrong variable. ServiceError CONFIRMATIONS_TOO_SLOW
 */
export function readConfig(environment: Environment): Config {
  const read = readSettings(SETTINGS, environment);
  const { values: settings, problems } = read;
  requireSettings(SETTINGS, read, ["chainId", "pool", "relayerKey"]);
  if (settings.rpcUrls?.length === 0) problems.push("SOTTO_RPC_URLS must name at least one node");
  if ((settings.depositFee ?? 0) > 0 && settings.feeTag === undefined)
    problems.push("SOTTO_FEE_TAG is missing: SOTTO_DEPOSIT_FEE needs an owner tag that the fees go to");
  refuseProblems(problems);
  return complete(settings);
}

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

/** @throws ProverError DEVELOPMENT_KEYS_REFUSED */
export function refuseDevelopmentKeys(set: string, config: Config): void {
  assertAllowedOnChain(set, config.chainId);
}
