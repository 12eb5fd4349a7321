// The faucet of the local chain: `POST /drip {"address":"0x.."}` mints 100 test USDC, with `"eth": true` also sends 1 ETH.
import type { RequestListener } from "node:http";
import { getAddress, Interface, parseEther, parseUnits, toQuantity } from "ethers";
import { readBody, sendJson } from "./http.ts";

const TOKENS = parseUnits("100", 6);
const ETHER = parseEther("1");
const MAX_BODY_BYTES = 1_024;
/** Maximum drips to one address per hour. */
const MAX_DRIPS = 20;
const HOUR_MS = 3_600_000;
/** Maximum number of addresses that are tracked; the oldest are dropped first. */
const MAX_COUNTED = 10_000;
const TOKEN = new Interface(["function mint(address to, uint256 amount)"]);

export interface FaucetOptions {
  /** JSON-RPC URL of a local chain, whose first account is unlocked. */
  readonly chain: string;
  /** Address of the test token. */
  readonly token: string;
  /** Current time, ms. */
  readonly clock?: (() => number) | undefined;
}

interface Drip {
  readonly address: string;
  readonly eth: boolean;
}

/** @throws an Error with a message for the caller */
function parseDrip(text: string): Drip {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error("the body is not JSON");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw new Error("the body must be an object");
  const { address, eth = false, ...others } = body as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`unknown field ${JSON.stringify(unknown.slice(0, 40))}`);
  if (typeof eth !== "boolean") throw new Error("eth must be true or false");
  if (typeof address !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(address))
    throw new Error("address must be 20 bytes as hex with 0x");
  if (/^0x0{40}$/.test(address)) throw new Error("address must not be zero");
  try {
    return { address: getAddress(address), eth };
  } catch {
    throw new Error("address has a wrong checksum: a digit may be mistyped");
  }
}

/** Every request that reaches it may use it: the server refuses web pages of other hosts. */
export function createFaucet({ chain, token, clock = Date.now }: FaucetOptions): RequestListener {
  const drips = new Map<string, number[]>();

  /** Counts a drip. @returns seconds to wait if the address has reached its limit */
  const count = (address: string): number | undefined => {
    const now = clock();
    const recent = (drips.get(address) ?? []).filter((time) => time > now - HOUR_MS);
    if (recent.length >= MAX_DRIPS) return Math.ceil((recent[0]! + HOUR_MS - now) / 1000);
    drips.delete(address);
    drips.set(address, [...recent, now]);
    const [oldest] = drips.keys();
    if (drips.size > MAX_COUNTED && oldest !== undefined) drips.delete(oldest);
    return undefined;
  };

  return async (request, response) => {
    const refuse = (status: number, code: string, message: string) => sendJson(response, status, { code, message });
    response.setHeader("access-control-allow-origin", "*");
    if (request.method === "OPTIONS") {
      response.setHeader("access-control-allow-methods", "POST");
      response.setHeader("access-control-allow-headers", "content-type");
      return void response.writeHead(204).end();
    }
    if (request.url !== "/drip") return refuse(404, "NOT_FOUND", "the faucet has one route: POST /drip");
    if (request.method !== "POST") {
      response.setHeader("allow", "POST");
      return refuse(405, "METHOD_NOT_ALLOWED", "send a POST request");
    }
    try {
      const text = await readBody(request, MAX_BODY_BYTES);
      if (text === undefined) {
        response.setHeader("connection", "close");
        return refuse(413, "BODY_TOO_LARGE", `the body has more than ${MAX_BODY_BYTES} bytes`);
      }
      let drip: Drip;
      try {
        drip = parseDrip(text);
      } catch (error) {
        return refuse(400, "INVALID_BODY", (error as Error).message);
      }
      const wait = count(drip.address);
      if (wait !== undefined) {
        response.setHeader("retry-after", String(wait));
        return refuse(429, "RATE_LIMITED", `${MAX_DRIPS} drips an hour for one address; retry in ${wait} s`);
      }
      const data = TOKEN.encodeFunctionData("mint", [drip.address, TOKENS]);
      const mint = await send(chain, { to: token, data });
      const gift = drip.eth ? await send(chain, { to: drip.address, value: toQuantity(ETHER) }) : undefined;
      sendJson(response, 200, { address: drip.address, usdc: "100", transactions: gift ? [mint, gift] : [mint] });
    } catch {
      refuse(503, "CHAIN_UNAVAILABLE", "the local chain does not answer");
    }
  };
}

/** Sends a transaction of the chain's first account. @returns its hash */
export async function send(chain: string, transaction: object): Promise<string> {
  const ask = async (method: string, params: unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(chain, { method: "POST", headers: { "content-type": "application/json" }, body });
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
    if (error !== undefined) throw new Error(error.message);
    return result;
  };
  const [from] = (await ask("eth_accounts", [])) as string[];
  return String(await ask("eth_sendTransaction", [{ from, ...transaction }]));
}
