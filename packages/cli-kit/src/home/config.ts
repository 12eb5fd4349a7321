import { existsSync } from "node:fs";
import { type Address, parseAddress, parseAmount, quoted, SottoError } from "@sotto/protocol";
import { CliError } from "../frame/errors.ts";
import { readText, writePrivate } from "./files.ts";
import type { Home } from "./home.ts";

/** A wallet's pool, and the node and service it uses. */
export interface Config {
  /** EIP-155 id of the chain. */
  chainId: bigint;
  /** URL of a JSON-RPC node. It may contain a provider's key, so only the owner can read the file. */
  rpc: string;
  pool: Address;
  token: Address;
  /** Number of the block in which the pool was deployed; scans begin there. */
  deploymentBlock: number;
  /** Name of the set of keys that the pool's verifiers use. */
  set: string;
  /** The token's. */
  decimals: number;
  /** The token's symbol, such as USDC. */
  symbol: string;
  /** Base URL of the service; undefined if the user's account sends every transaction. */
  service: string | undefined;
  /** Folder or base URL of the circuits' artifacts; undefined if they come from the service. */
  artifacts: string | undefined;
  /** Blocks required on top of an event before it counts. */
  finality: number;
  /** Limits of `sotto pay`, `sotto request` and agents. */
  limits: WalletLimits;
}

/**
 * A wallet's spending limits, in base units. They apply to `sotto pay` and `request`, and to agents. A missing field
 * means no limit.
 */
export interface WalletLimits {
  /** For one request, base units. Default: no limit. */
  perRequest?: bigint | undefined;
  /** For one host on one day (UTC). */
  perHost?: bigint | undefined;
  /** For one day (UTC). */
  perDay?: bigint | undefined;
  /** An agent asks the user before it pays more than this. */
  approveAbove?: bigint | undefined;
}

/** Names of the limits, in the order in which they are shown. */
export const LIMITS = ["perRequest", "perHost", "perDay", "approveAbove"] as const satisfies (keyof WalletLimits)[];

const isText = (value: unknown, maxLength = 2048): value is string =>
  typeof value === "string" && value !== "" && value.length <= maxLength;
const isCount = (value: unknown, max: number): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= max;
const isHttp = (value: unknown): value is string =>
  isText(value) && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

/** Reads the config file of a home. @throws CliError CONFIG_MISSING, CONFIG_INVALID */
export function readConfig(home: Home): Config {
  if (!existsSync(home.config))
    throw new CliError("CONFIG_MISSING", `there is no wallet in ${home.folder}; create one with \`sotto init\``);
  let fields: Record<string, unknown>;
  try {
    fields = Object(JSON.parse(readText(home.config, 65_536))) as Record<string, unknown>;
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw new CliError("CONFIG_INVALID", `${home.config} is not JSON`, {}, { cause });
  }
  return parseConfig(fields, home.config);
}

/** @param where names the source in errors @throws CliError CONFIG_INVALID, which names the field */
export function parseConfig(fields: Readonly<Record<string, unknown>>, where: string): Config {
  const wrong = (name: string, expected: string) =>
    new CliError("CONFIG_INVALID", `${name} in ${where} is invalid: expected ${expected}`, { name });
  const address = (name: string): Address => {
    try {
      return parseAddress(fields[name], name);
    } catch (error) {
      if (error instanceof SottoError) throw wrong(name, "an address of 20 bytes");
      throw error;
    }
  };
  const { chainId, rpc, deploymentBlock, set, decimals, symbol, service, artifacts, finality } = fields;
  if (typeof chainId !== "string" || !/^[1-9][0-9]{0,77}$/.test(chainId)) throw wrong("chainId", "a decimal string");
  if (!isHttp(rpc)) throw wrong("rpc", "an http or https URL");
  if (!isCount(deploymentBlock, Number.MAX_SAFE_INTEGER)) throw wrong("deploymentBlock", "a block number");
  if (!isText(set, 64)) throw wrong("set", "the name of a set of keys");
  if (!isCount(decimals, 36)) throw wrong("decimals", "a number from 0 to 36");
  if (!isText(symbol, 16) || !/^[\x21-\x7e]+$/.test(symbol)) throw wrong("symbol", "1 to 16 printable characters");
  if (!isCount(finality, 1000)) throw wrong("finality", "a number from 0 to 1000");
  if (service !== undefined && !isHttp(service)) throw wrong("service", "an http or https URL, or no value");
  if (artifacts !== undefined && !isText(artifacts)) throw wrong("artifacts", "a folder or a URL, or no value");
  return {
    chainId: BigInt(chainId),
    rpc,
    pool: address("pool"),
    token: address("token"),
    deploymentBlock,
    set,
    decimals,
    symbol,
    service,
    artifacts,
    finality,
    limits: parseLimits(fields["limits"], wrong),
  };
}

function parseLimits(value: unknown, wrong: (name: string, expected: string) => CliError): WalletLimits {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) throw wrong("limits", "an object, or no value");
  const stated = value as Readonly<Record<string, unknown>>;
  const limits: WalletLimits = {};
  // A misspelled limit would have no effect.
  const unknown = Object.keys(stated).find((name) => !(LIMITS as readonly string[]).includes(name));
  if (unknown !== undefined) throw wrong(`limits.${quoted(unknown, 40)}`, `one of ${LIMITS.join(", ")}`);
  for (const name of LIMITS) {
    if (stated[name] === undefined) continue;
    try {
      limits[name] = parseAmount(stated[name], name);
    } catch (error) {
      if (error instanceof SottoError) throw wrong(`limits.${name}`, "base units as a decimal string");
      throw error;
    }
  }
  return limits;
}

/** The config as JSON, as `parseConfig` reads it. */
export function configFields(config: Config): Readonly<Record<string, unknown>> {
  const stated = LIMITS.filter((name) => config.limits[name] !== undefined);
  const limits = Object.fromEntries(stated.map((name) => [name, String(config.limits[name])]));
  return { ...config, chainId: String(config.chainId), limits: stated.length === 0 ? undefined : limits };
}

export function writeConfig(home: Home, config: Config, replace: boolean): void {
  const text = JSON.stringify({ version: 1, ...configFields(config) }, null, 2);
  writePrivate(home.config, `${text}\n`, replace);
}
