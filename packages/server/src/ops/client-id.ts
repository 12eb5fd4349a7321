import { createHmac } from "node:crypto";
import { isIPv6 } from "node:net";

/** Bits of the networks of an IPv6 address that a customer is given: one link, a house, a site. */
const NETWORK_BITS = [64, 56, 48] as const;
/** What each of these networks may use, in multiples of the smallest one's limit. */
export const NETWORK_GROWTH = [1, 2, 4] as const;

/**
 * Names whom quotas count for: the keyed hashes of the client's networks, joined by commas, the smallest first. The store
 * keeps no addresses: its file alone does not tell who paid.
 * @param secret the same for all replicas
 */
export function clientIds(secret: string): (address: string) => string {
  const key = createHmac("sha256", "sotto client ids").update(secret).digest();
  const idOf = (network: string) => createHmac("sha256", key).update(network).digest("hex").slice(0, 32);
  return (address) => networksOf(address).map(idOf).join(",");
}

/** @param client its networks, joined by commas, the smallest first; @returns what each of them may use of a limit */
export function networkLimits(client: string, limit: number): { readonly network: string; readonly limit: number }[] {
  const growth = (index: number) => NETWORK_GROWTH[index] ?? NETWORK_GROWTH.at(-1)!;
  return client.split(",").map((network, index) => ({ network, limit: limit * growth(index) }));
}

/** Some proxies write a port beside the address they stand for: it is another one for each connection. */
const WITH_PORT = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;

/** The smallest network that one customer has: an IPv4 address, or the /64 of an IPv6 address. */
export const networkOf = (address: string): string => networksOf(address)[0]!;

/** An IPv4 address, also one that is mapped into IPv6; otherwise the /64, /56 and /48 of an IPv6 address. */
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

/** The first bits of an address, in groups; the last group's other bits are 0. */
function prefixOf(groups: readonly number[], bits: number): string {
  const used = groups.slice(0, Math.ceil(bits / 16));
  const spare = used.length * 16 - bits;
  return used
    .map((group, index) => (index === used.length - 1 ? (group >> spare) << spare : group).toString(16))
    .join(":");
}

/** The eight numbers of an IPv6 address; URLs have one spelling for each, without an IPv4 part. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [front, back] = [head, tail ?? ""].map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array<string>(8 - front!.length - back!.length).fill("0");
  return [...front!, ...zeros, ...back!].map((group) => Number.parseInt(group, 16));
}
