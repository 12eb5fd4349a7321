// sotto.json: a host's public configuration, served beside index.html.
import {
  type Address,
  type DeploymentManifest,
  isSecureUrl,
  parseAddress,
  parseDecimalAmount,
  parseDeployment,
  SottoError,
  trimPasted,
} from "@sotto/protocol";
import { WebError } from "./errors.ts";
import { DECIMALS } from "./lib/amount.ts";

/** A resource server that the wallet offers to pay. */
export interface Merchant {
  readonly name: string;
  /** URL of the resource. */
  readonly url: string;
  /** Base units, for display only; the 402 response determines the price. */
  readonly price: bigint | undefined;
  /** The wallet under which the merchant is paid. */
  readonly recipient: Address | undefined;
}

/** Base units. */
export interface Limits {
  readonly maxPerRequest: bigint;
  /** Per UTC day. */
  readonly maxPerDay: bigint;
}

/** The checked content of sotto.json. */
export interface HostConfig {
  readonly name: string;
  readonly deployment: DeploymentManifest;
  /** JSON-RPC URLs, the preferred one first; 1 to 8. */
  readonly nodes: readonly string[];
  /** Base URL of the service. */
  readonly service: string;
  /** Base URL of the phone registry. */
  readonly registry: string | undefined;
  /** Base URL of the faucet; local chains only. */
  readonly faucet: string | undefined;
  /** At most 32. */
  readonly merchants: readonly Merchant[];
  /** The limits of a new wallet. */
  readonly limits: Limits;
}

const MAX_CONFIG_BYTES = 256 * 1024;
const DEFAULT_LIMITS: Limits = { maxPerRequest: 500_000n, maxPerDay: 5_000_000n };
const STORED = "sotto.json";

const invalid = (message: string, cause?: unknown) => new WebError("HOST_CONFIG_INVALID", message, {}, { cause });

/**
 * @param json amounts are decimal strings in whole tokens: { "limits": { "maxPerRequest": "0.5", "maxPerDay": "5" } }
 * @throws WebError HOST_CONFIG_INVALID
 */
export function parseConfig(json: unknown): HostConfig {
  try {
    return readConfig(json);
  } catch (error) {
    if (error instanceof SottoError && error.code !== "HOST_CONFIG_INVALID") throw invalid(error.message, error);
    throw error;
  }
}

function readConfig(json: unknown): HostConfig {
  const { name, deployment, nodes, service, registry, faucet, merchants = [], limits } = objectOf(json, "sotto.json");
  const manifest = parseDeployment(deployment);
  const chainId = BigInt(manifest.chainId);
  const url = (value: unknown, field: string): string => {
    if (typeof value === "string" && value.length <= 2048 && isSecureUrl(value, chainId)) return value;
    throw invalid(`${field} must be an https URL, or one of this machine`);
  };
  const optionalUrl = (value: unknown, field: string) => (value === undefined ? undefined : url(value, field));
  if (!Array.isArray(nodes) || nodes.length === 0 || nodes.length > 8)
    throw invalid("nodes must have 1 to 8 JSON-RPC URLs");
  if (!Array.isArray(merchants) || merchants.length > 32) throw invalid("merchants must have at most 32 entries");
  return {
    name: textOf(name ?? manifest.network, "name", 64),
    deployment: manifest,
    nodes: nodes.map((node, i) => url(node, `nodes[${i}]`)),
    service: url(service, "service"),
    registry: optionalUrl(registry, "registry"),
    faucet: optionalUrl(faucet, "faucet"),
    merchants: merchants.map((merchant, i): Merchant => {
      const field = `merchants[${i}]`;
      const { name, url: resource, price, recipient } = objectOf(merchant, field);
      return {
        name: textOf(name, `${field}.name`, 64),
        url: url(resource, `${field}.url`),
        price: price === undefined ? undefined : parseDecimalAmount(price as string, DECIMALS),
        recipient: recipient === undefined ? undefined : parseAddress(recipient, `${field}.recipient`),
      };
    }),
    limits: limits === undefined ? DEFAULT_LIMITS : readLimits(limits),
  };
}

function readLimits(json: unknown): Limits {
  const { maxPerRequest, maxPerDay } = objectOf(json, "limits");
  return {
    maxPerRequest: parseDecimalAmount(String(maxPerRequest), DECIMALS),
    maxPerDay: parseDecimalAmount(String(maxPerDay), DECIMALS),
  };
}

function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalid(`${name} must be a JSON object`);
}

function textOf(value: unknown, name: string, max: number): string {
  if (typeof value === "string" && value !== "" && value.length <= max) return value;
  throw invalid(`${name} must be a text of 1 to ${max} characters`);
}

/**
 * Reads the host's sotto.json; if it has none, the configuration that the user entered earlier in this browser.
 * @returns undefined if there is neither
 * @throws WebError HOST_CONFIG_INVALID, PAGE_UNREACHABLE
 */
export async function loadConfig(): Promise<HostConfig | undefined> {
  const response = await fetch("./sotto.json", { cache: "no-cache" }).catch((cause: unknown) => {
    throw new WebError("PAGE_UNREACHABLE", "the host of this page does not answer", {}, { cause });
  });
  if (response.status === 404) {
    const entered = localStorage.getItem(STORED);
    return entered === null ? undefined : parseConfig(JSON.parse(entered));
  }
  if (!response.ok) throw invalid(`the host answers ${response.status} for sotto.json`);
  const text = await response.text();
  if (text.length > MAX_CONFIG_BYTES) throw invalid(`sotto.json has more than ${MAX_CONFIG_BYTES} bytes`);
  return parseConfig(parseJson(text));
}

/** Stores a configuration that the user entered. @throws WebError HOST_CONFIG_INVALID */
export function enterConfig(text: { service: string; node: string; manifest: string }): HostConfig {
  const json = { deployment: parseJson(trimPasted(text.manifest)), nodes: [text.node], service: text.service };
  const config = parseConfig(json);
  localStorage.setItem(STORED, JSON.stringify(json));
  return config;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid("the text is not JSON", cause);
  }
}
