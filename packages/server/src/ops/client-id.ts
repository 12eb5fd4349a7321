import { createHmac } from "node:crypto";
import { isIPv6 } from "node:net";

/** First half of an IPv6 address: one customer has all of the rest. */
const NETWORK_GROUPS = 4;

/**
 * Whom quotas count for. The store keeps no addresses: who has only its file cannot tell who paid.
 * @param secret the same for all replicas
 */
export function clientIds(secret: string): (address: string) => string {
  const key = createHmac("sha256", "sotto client ids").update(secret).digest();
  return (address) => createHmac("sha256", key).update(networkOf(address)).digest("hex").slice(0, 32);
}

/** Some proxies write a port beside the address they stand for: it is another one for each connection. */
const WITH_PORT = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;

export function networkOf(address: string): string {
  const [, inBrackets, beforePort] = WITH_PORT.exec(address) ?? [];
  const [plain = ""] = (inBrackets ?? beforePort ?? address).split("%");
  if (!isIPv6(plain)) return plain;
  const groups = groupsOf(plain);
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  return groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.toString(16))
    .join(":");
}

/** The eight numbers of an IPv6 address; URLs have one spelling for each, without an IPv4 part. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [front, back] = [head, tail ?? ""].map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array<string>(8 - front!.length - back!.length).fill("0");
  return [...front!, ...zeros, ...back!].map((group) => Number.parseInt(group, 16));
}
