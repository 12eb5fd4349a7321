import { createHmac } from "node:crypto";
import { isIPv6 } from "node:net";

/** Prefix lengths of the IPv6 networks that providers assign to a customer. */
const NETWORK_BITS = [64, 56, 48] as const;
/** The limit of each of these networks, in multiples of the smallest network's limit. */
export const NETWORK_GROWTH = [1, 2, 4] as const;

/**
 * Makes the ids under which quotas count a client: keyed hashes of its networks, joined by commas, the smallest network
 * first. The store contains no network addresses, so its file alone does not reveal who paid.
 * @param secret the same on all replicas
 */
export function clientIds(secret: string): (address: string) => string {
  const key = createHmac("sha256", "sotto client ids").update(secret).digest();
  const idOf = (network: string) => createHmac("sha256", key).update(network).digest("hex").slice(0, 32);
  return (address) => networksOf(address).map(idOf).join(",");
}

/**
 * The limits of a client's networks: a larger network has a higher one.
 * @param client an id made by `clientIds`
 * @param limit for the smallest network
 */
export function networkLimits(client: string, limit: number): { readonly network: string; readonly limit: number }[] {
  const growth = (index: number) => NETWORK_GROWTH[index] ?? NETWORK_GROWTH.at(-1)!;
  return client.split(",").map((network, index) => ({ network, limit: limit * growth(index) }));
}

/**
 * Some proxies add the port of the connection to the client's address. The same address with another port is the same
 * client.
 */
const WITH_PORT = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;

/** The smallest network that a provider assigns to a customer: an IPv4 address, or the /64 of an IPv6 address. */
export const networkOf = (address: string): string => networksOf(address)[0]!;

/** The networks of an address: the IPv4 address itself (also if mapped into IPv6), or the /64, /56 and /48 of IPv6. */
export function networksOf(address: string): string[] {
  const [, inBrackets, beforePort] = WITH_PORT.exec(address) ?? [];
  const [plain = ""] = (inBrackets ?? beforePort ?? address).split("%");
  if (!isIPv6(plain)) return [plain];
  const groups = groupsOf(plain);
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return [[high >> 8, high & 0xff, low >> 8, low & 0xff].join(".")];
  return NETWORK_BITS.map((bits) => `${prefixOf(groups, bits)}/${bits}`);
}

/** The first `bits` of an address, as groups in hex; the remaining bits of the last group are 0. */
function prefixOf(groups: readonly number[], bits: number): string {
  const used = groups.slice(0, Math.ceil(bits / 16));
  const spare = used.length * 16 - bits;
  return used
    .map((group, index) => (index === used.length - 1 ? (group >> spare) << spare : group).toString(16))
    .join(":");
}

/** The eight groups of an IPv6 address. The URL parser normalizes its spelling and replaces an embedded IPv4 address. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [front, back] = [head, tail ?? ""].map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array<string>(8 - front!.length - back!.length).fill("0");
  return [...front!, ...zeros, ...back!].map((group) => Number.parseInt(group, 16));
}
