// Which addresses an agent may reach. A prompt can name any URL, so without this an agent could read what only this machine or
// its network may see: metadata services, routers, local servers.
import { lookup } from "node:dns";
import { BlockList, isIP } from "node:net";
import { invisibleCharacter, trimPasted } from "@sotto/protocol";
import { Agent, buildConnector, fetch as undiciFetch } from "undici";
import { AgentError } from "../errors.ts";

/** Networks that are not the public internet (IANA's special-purpose registries). */
const PRIVATE: readonly (readonly [address: string, prefix: number, family: "ipv4" | "ipv6"])[] = [
  ["0.0.0.0", 8, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.0.0.0", 24, "ipv4"],
  ["192.0.2.0", 24, "ipv4"],
  ["192.88.99.0", 24, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["198.18.0.0", 15, "ipv4"],
  ["198.51.100.0", 24, "ipv4"],
  ["203.0.113.0", 24, "ipv4"],
  ["224.0.0.0", 3, "ipv4"],
  ["::", 96, "ipv6"],
  ["64:ff9b:1::", 48, "ipv6"],
  ["100::", 64, "ipv6"],
  ["2001::", 23, "ipv6"],
  ["2001:db8::", 32, "ipv6"],
  ["2002::", 16, "ipv6"],
  ["3fff::", 20, "ipv6"],
  ["5f00::", 16, "ipv6"],
  ["fc00::", 7, "ipv6"],
  ["fe80::", 10, "ipv6"],
  ["fec0::", 10, "ipv6"],
  ["ff00::", 8, "ipv6"],
];

const blocked = new BlockList();
for (const [address, prefix, family] of PRIVATE) {
  blocked.addSubnet(address, prefix, family);
  // Networks without IPv4 reach IPv4 hosts by NAT64, at addresses that end with the host's own (RFC 6052).
  if (family === "ipv4") blocked.addSubnet(`64:ff9b::${address}`, 96 + prefix, "ipv6");
}

/** Whether an IP address is not on the public internet. IPv6 addresses that contain an IPv4 address count as that address. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  return family === 0 || blocked.check(address, family === 4 ? "ipv4" : "ipv6");
}

const refused = (host: string): AgentError =>
  new AgentError(
    "TARGET_NOT_ALLOWED",
    `${host} is in a private network, which agents may not reach; the wallet's owner can allow it with --private-networks`,
  );

/**
 * Spaces and invisible characters around the URL are ignored.
 * @throws AgentError TARGET_NOT_ALLOWED unless it is an http or https URL without a user name
 */
export function parseTarget(given: string): URL {
  const text = trimPasted(given);
  const invisible = invisibleCharacter(text);
  // The parser would encode or drop it, and another page would be requested.
  if (invisible !== undefined)
    throw new AgentError(
      "TARGET_NOT_ALLOWED",
      `the URL contains ${invisible}: remove it, or percent-encode it if it is part of the URL`,
    );
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new AgentError("TARGET_NOT_ALLOWED", "the URL must begin with https:// or http://");
  if (url.username !== "" || url.password !== "")
    throw new AgentError("TARGET_NOT_ALLOWED", "the URL must not contain a user name or a password");
  return url;
}

/** Checks each address that a connection would use: the one in the URL, those of its name, and those of redirects. */
function publicConnector(
  isPrivate: (address: string) => boolean,
  options: buildConnector.BuildOptions,
): buildConnector.connector {
  const connect = buildConnector({
    ...options,
    lookup: (host, options, callback) =>
      lookup(host, { ...options, all: true }, (error, found) => {
        if (error !== null) return callback(error, [], 0);
        if (found.length === 0 || found.some(({ address }) => isPrivate(address)))
          return callback(refused(host), [], 0);
        if (options.all === true) return callback(null, found);
        return callback(null, found[0]!.address, found[0]!.family);
      }),
  });
  return (options, callback) => {
    const literal = options.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(literal) !== 0 && isPrivate(literal)) return callback(refused(literal), null);
    return connect(options, callback);
  };
}

/**
 * A fetch that reaches public addresses only. Names are resolved once per connection and the resolved address is the one
 * that is connected to, so changing a name's address in between has no effect.
 * @param isPrivate whether an address is refused
 */
export const publicFetch = (isPrivate = isPrivateAddress): typeof fetch =>
  fetchWith(new Agent({ connect: publicConnector(isPrivate, {}) }));

/**
 * As `publicFetch`, with a new connection for each request, which does not resume an earlier TLS session: a server cannot link
 * requests by them.
 */
export const separateFetch = (isPrivate = isPrivateAddress): typeof fetch =>
  fetchWith(new Agent({ pipelining: 0, connect: publicConnector(isPrivate, { maxCachedSessions: 0 }) }));

function fetchWith(dispatcher: Agent): typeof fetch {
  return (async (input: string, init: RequestInit) => {
    try {
      return await undiciFetch(input, { ...(init as object), dispatcher });
    } catch (error) {
      // fetch hides the connector's error behind "fetch failed".
      if (error instanceof Error && error.cause instanceof AgentError) throw error.cause;
      throw error;
    }
  }) as unknown as typeof fetch;
}
