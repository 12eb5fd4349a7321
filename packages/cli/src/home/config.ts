import { existsSync } from "node:fs";
import { type Address, parseAddress, SottoError } from "@sotto/protocol";
import { CliError } from "../frame/errors.ts";
import { readText, writePrivate } from "./files.ts";
import type { Home } from "./home.ts";

/** Where `npm run service` listens. */
export const LOCAL_SERVICE = "http://127.0.0.1:8402/zk";

/** Where a wallet's pool is and what it is used through. Holds no secret. */
export interface Config {
  chainId: bigint;
  /** JSON-RPC node. A provider's key may be part of it: the file is its owner's alone. */
  rpc: string;
  pool: Address;
  token: Address;
  deploymentBlock: number;
  /** Set of the keys its verifiers have. */
  set: string;
  /** Of the token. */
  decimals: number;
  symbol: string;
  /** Base address of the service; undefined where everything is sent by an own account. */
  service: string | undefined;
  /** Folder or base address of the circuits' artifacts; undefined: the service's. */
  artifacts: string | undefined;
  /** Blocks on top of an event before it counts. */
  finality: number;
}

const isText = (value: unknown, most = 2048): value is string =>
  typeof value === "string" && value !== "" && value.length <= most;
const isCount = (value: unknown, most: number): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= most;
const isHttp = (value: unknown): value is string =>
  isText(value) && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

/** @throws CliError CONFIG_MISSING, CONFIG_INVALID */
export function readConfig(home: Home): Config {
  if (!existsSync(home.config))
    throw new CliError("CONFIG_MISSING", `there is no wallet in ${home.folder}; \`sotto init\` makes one`);
  let fields: Record<string, unknown>;
  try {
    fields = Object(JSON.parse(readText(home.config, 65_536))) as Record<string, unknown>;
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw new CliError("CONFIG_INVALID", `${home.config} is not JSON`, {}, { cause });
  }
  return parseConfig(fields, home.config);
}

/** @param where for messages @throws CliError CONFIG_INVALID naming the field */
export function parseConfig(fields: Readonly<Record<string, unknown>>, where: string): Config {
  const wrong = (name: string, expected: string) =>
    new CliError("CONFIG_INVALID", `${name} in ${where} is not what was expected: ${expected}`, { name });
  const address = (name: string): Address => {
    try {
      return parseAddress(fields[name], name);
    } catch (error) {
      if (error instanceof SottoError) throw wrong(name, "an address of 20 bytes");
      throw error;
    }
  };
  const { chainId, rpc, deploymentBlock, set, decimals, symbol, service, artifacts, finality } = fields;
  if (typeof chainId !== "string" || !/^[1-9][0-9]{0,77}$/.test(chainId)) throw wrong("chainId", "a decimal text");
  if (!isHttp(rpc)) throw wrong("rpc", "an http or https address");
  if (!isCount(deploymentBlock, Number.MAX_SAFE_INTEGER)) throw wrong("deploymentBlock", "a block number");
  if (!isText(set, 64)) throw wrong("set", "the name of a set of keys");
  if (!isCount(decimals, 36)) throw wrong("decimals", "a number from 0 to 36");
  if (!isText(symbol, 16) || !/^[\x21-\x7e]+$/.test(symbol)) throw wrong("symbol", "a short text");
  if (!isCount(finality, 1000)) throw wrong("finality", "a number from 0 to 1000");
  if (service !== undefined && !isHttp(service)) throw wrong("service", "an http or https address, or left out");
  if (artifacts !== undefined && !isText(artifacts)) throw wrong("artifacts", "a folder or an address, or left out");
  const place = { chainId: BigInt(chainId), rpc, pool: address("pool"), token: address("token"), deploymentBlock, set };
  return { ...place, decimals, symbol, service, artifacts, finality };
}

export function writeConfig(home: Home, config: Config, replace: boolean): void {
  const text = JSON.stringify({ version: 1, ...config, chainId: String(config.chainId) }, null, 2);
  writePrivate(home.config, `${text}\n`, replace);
}
