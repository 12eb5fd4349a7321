// The networks of a client's address: providers assign a whole network of IPv6 to a customer, so one client has many addresses.

import { describe, fail } from "./errors.ts";

/** Prefix lengths of the IPv6 networks that providers assign to a customer. */
const NETWORK_BITS = [64, 56, 48] as const;

/**
 * Some proxies add the port of the connection to the client's address. The same address with another port is the same
 * client.
 */
const WITH_PORT = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;
/** The IPv4 address at the end of an IPv6 address. */
const EMBEDDED = /(?<=:)(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/;
const GROUP = /^[\da-f]{1,4}$/i;
const GROUPS = 8;

/** The smallest network that a provider assigns to a customer: an IPv4 address, or the /64 of an IPv6 address. @throws as `networksOf` */
export const networkOf = (address: string): string => networksOf(address)[0]!;

/**
 * The networks of an address: the IPv4 address itself (also if mapped into IPv6), or the /64, /56 and /48 of IPv6.
 * @param address as a framework or a proxy names it; a text that is no address is its own network
 * @throws SottoError INVALID_STRING
 */
export function networksOf(address: string): string[] {
  if (typeof address !== "string") fail("INVALID_STRING", `the address must be text, got ${describe(address)}`);
  const [, inBrackets, beforePort] = WITH_PORT.exec(address) ?? [];
  const [plain = ""] = (inBrackets ?? beforePort ?? address).split("%");
  const groups = groupsOf(plain);
  if (groups === undefined) return [plain];
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

/** The eight groups of an IPv6 address without a zone; undefined if the text is none. */
function groupsOf(text: string): number[] | undefined {
  const inHex = text.replace(EMBEDDED, (whole: string, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return [a, b, c, d].every((byte) => byte <= 255)
      ? `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
      : whole;
  });
  const [front = [], back, ...more] = inHex.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const zeros = GROUPS - front.length - (back?.length ?? 0);
  // "::" replaces at least one group.
  if (more.length > 0 || (back === undefined ? zeros !== 0 : zeros < 1)) return undefined;
  const groups = [...front, ...Array<string>(zeros).fill("0"), ...(back ?? [])];
  return groups.every((group) => GROUP.test(group)) ? groups.map((group) => Number.parseInt(group, 16)) : undefined;
}
