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

export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [plain = ""] = address.split("%");
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.toLowerCase().split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - front.length - back.length;
  const groups = [...front, ...Array<string>(Math.max(0, zeros)).fill("0"), ...back];
  return groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
