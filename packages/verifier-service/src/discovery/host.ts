// Asks a host for the 402 of a resource. The URL comes from payments of strangers, so the request reaches only public
// addresses, carries no data and follows no redirect, and only the response's status and headers are read.
import { lookup as dnsLookup, type LookupAddress } from "node:dns";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, Agent as SecureAgent } from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** The part of a response that is used. */
export interface HostAnswer {
  readonly status: number;
  /** The header PAYMENT-REQUIRED. */
  readonly required: string | undefined;
}

/** Asks a host, and rejects if it does not answer. */
export type AskHost = (url: string, method: string) => Promise<HostAnswer>;

const TIMEOUT_MS = 5_000;
/** A listing of the maximum size and its terms take about 9,000 characters. */
const MAX_HEADER_BYTES = 32 * 1024;

/** Networks that are not public: private, local, multicast, documentation and translation networks. */
const PRIVATE_IPV4 = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  ...["224.0.0.0/4", "240.0.0.0/4"],
];
/** The public part of IPv6, and NAT64's addresses of IPv4 hosts, which end with the host's own (RFC 6052). */
const PUBLIC_IPV6 = ["2000::/3", "64:ff9b::/96"];
const RESERVED_IPV6 = [
  ...["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"],
  ...PRIVATE_IPV4.map((network) => {
    const [address, bits] = network.split("/");
    return `64:ff9b::${address}/${96 + Number(bits)}`;
  }),
];

function networks(list: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const found = new BlockList();
  for (const network of list) {
    const [address = "", bits] = network.split("/");
    found.addSubnet(address, Number(bits), family);
  }
  return found;
}

const privateIpv4 = networks(PRIVATE_IPV4, "ipv4");
const publicIpv6 = networks(PUBLIC_IPV6, "ipv6");
const reservedIpv6 = networks(RESERVED_IPV6, "ipv6");

export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !privateIpv4.check(address, "ipv4");
  return family === 6 && publicIpv6.check(address, "ipv6") && !reservedIpv6.check(address, "ipv6");
}

/**
 * Resolves names as Node does, and fails if one of the addresses is not public. The connection goes to the address that
 * was checked.
 */
export function publicLookup(resolve: typeof dnsLookup = dnsLookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return callback(error, "");
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
        return callback(new Error(`${hostname} has an address that is not public`), "");
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

/**
 * @param local whether the chain is local; if so, every host may be asked, even without TLS
 * @returns why a URL must not be requested; undefined if it may be
 */
export function checkHostUrl(
  { protocol, hostname, port, username, password }: URL,
  local: boolean,
): string | undefined {
  if (local) return /^https?:$/.test(protocol) ? undefined : "the resource must be http or https";
  if (protocol !== "https:" || port !== "") return "the resource must be https, on the default port";
  if (username !== "" || password !== "") return "the resource must not have a user";
  // The URL parser writes every IPv4 address with dots, and IPv6 addresses in brackets.
  if (isIP(hostname) !== 0 || hostname.startsWith("[")) return "the host of the resource must have a name";
  return undefined;
}

/** @param local as for `checkHostUrl` */
export function hostAsker(local: boolean): AskHost {
  return (url, method) =>
    new Promise((resolve, reject) => {
      const target = new URL(url);
      const problem = checkHostUrl(target, local);
      if (problem !== undefined) throw new Error(problem);
      const secure = target.protocol === "https:";
      const open = secure ? httpsRequest : httpRequest;
      const asked = open(target, {
        method,
        // The process's shared agent could reuse a connection to an address that is not public.
        agent: secure ? new SecureAgent() : new Agent(),
        headers: { accept: "application/json", "user-agent": "sotto-discovery" },
        maxHeaderSize: MAX_HEADER_BYTES,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(local ? {} : { lookup: publicLookup() }),
      });
      asked.on("error", reject);
      // Node reports neither a response nor an error if the host switches protocols (101).
      asked.on("close", () => reject(new Error("the connection was closed without a response")));
      asked.once("response", (response: IncomingMessage) => {
        const { statusCode: status = 0, headers } = response;
        const required = headers["payment-required"];
        response.destroy();
        resolve({ status, required: typeof required === "string" ? required : undefined });
      });
      asked.end();
    });
}
