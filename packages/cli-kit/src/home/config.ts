import { existsSync } from "node:fs";
import { isLimitHost, MAX_LIMITED_HOSTS } from "@sotto/client";
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

/** The tools of `sotto-mcp` that spend. */
export const AGENT_TOOLS = ["fetch_paid", "pay_phone"] as const;
/** A tool of `sotto-mcp` that spends. */
export type AgentTool = (typeof AGENT_TOOLS)[number];

/**
 * A wallet's spending limits, in base units. They apply to `sotto pay` and `request`, and to agents. A missing field
 * means no limit.
 */
export interface WalletLimits {
  /** For one request, base units. Default: no limit. */
  perRequest?: bigint | undefined;
  /** For one host on one day (UTC), with all its ports. */
  perHost?: bigint | undefined;
  /** For one hour (UTC). */
  perHour?: bigint | undefined;
  /** For one day (UTC). */
  perDay?: bigint | undefined;
  /** An agent asks the user before it pays more than this. */
  approveAbove?: bigint | undefined;
  /** For single hosts on one day (UTC), by their names as `limitHost` writes them, in place of `perHost`. */
  hosts?: Readonly<Record<string, bigint>> | undefined;
  /** For single tools of an agent on one day (UTC). */
  tools?: Readonly<Partial<Record<AgentTool, bigint>>> | undefined;
}

/** Names of the limits that are one amount, in the order in which they are shown. */
export const LIMITS = [
  "perRequest",
  "perHost",
  "perHour",
  "perDay",
  "approveAbove",
] as const satisfies (keyof WalletLimits)[];

/** Whether a text names a tool that spends. */
export const isAgentTool = (text: string): text is AgentTool => (AGENT_TOOLS as readonly string[]).includes(text);

/** Whether a text can be shown after amounts: 1 to 16 printable ASCII characters. */
export const isSymbol = (value: unknown): value is string => isText(value, 16) && /^[\x21-\x7e]+$/.test(value);

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
  if (!isSymbol(symbol)) throw wrong("symbol", "1 to 16 printable characters");
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

type Wrong = (name: string, expected: string) => CliError;
type Fields = Readonly<Record<string, unknown>>;

function objectOf(value: unknown, name: string, wrong: Wrong): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw wrong(name, "an object, or no value");
}

function parseLimits(value: unknown, wrong: Wrong): WalletLimits {
  if (value === undefined) return {};
  const stated = objectOf(value, "limits", wrong);
  const limits: WalletLimits = {};
  // A misspelled limit would have no effect.
  const names: readonly string[] = [...LIMITS, "hosts", "tools"];
  const unknown = Object.keys(stated).find((name) => !names.includes(name));
  if (unknown !== undefined) throw wrong(`limits.${quoted(unknown, 40)}`, `one of ${names.join(", ")}`);
  for (const name of LIMITS)
    if (stated[name] !== undefined) limits[name] = limitOf(stated[name], `limits.${name}`, wrong);
  const { hosts, tools } = stated;
  if (hosts !== undefined) {
    limits.hosts = limitsIn(hosts, "limits.hosts", isLimitHost, "host names in lower case, without port", wrong);
    const count = Object.keys(limits.hosts).length;
    if (count > MAX_LIMITED_HOSTS) throw wrong("limits.hosts", `at most ${MAX_LIMITED_HOSTS} hosts`);
  }
  if (tools !== undefined) limits.tools = limitsIn(tools, "limits.tools", isAgentTool, AGENT_TOOLS.join(" or "), wrong);
  return limits;
}

function limitOf(value: unknown, name: string, wrong: Wrong): bigint {
  try {
    return parseAmount(value, name);
  } catch (error) {
    if (error instanceof SottoError) throw wrong(name, "base units as a decimal string");
    throw error;
  }
}

/** Limits by name. @param expected what the names are */
function limitsIn(
  value: unknown,
  name: string,
  isName: (text: string) => boolean,
  expected: string,
  wrong: Wrong,
): Record<string, bigint> {
  const entries = Object.entries(objectOf(value, name, wrong));
  return Object.fromEntries(
    entries.map(([key, limit]) => {
      if (!isName(key)) throw wrong(`${name}: ${quoted(key, 40)}`, expected);
      return [key, limitOf(limit, `${name}: ${key}`, wrong)];
    }),
  );
}

/** The config as JSON, as `parseConfig` reads it. */
export function configFields(config: Config): Readonly<Record<string, unknown>> {
  const { hosts = {}, tools = {}, ...single } = config.limits;
  const texts = (amounts: Readonly<Record<string, bigint | undefined>>) => {
    const stated = Object.entries(amounts).filter(([, amount]) => amount !== undefined);
    return stated.length === 0 ? undefined : Object.fromEntries(stated.map(([name, amount]) => [name, String(amount)]));
  };
  const limits = { ...texts(single), hosts: texts(hosts), tools: texts(tools) };
  const some = Object.values(limits).some((limit) => limit !== undefined);
  return { ...config, chainId: String(config.chainId), limits: some ? limits : undefined };
}

export function writeConfig(home: Home, config: Config, replace: boolean): void {
  const text = JSON.stringify({ version: 1, ...configFields(config) }, null, 2);
  writePrivate(home.config, `${text}\n`, replace);
}
