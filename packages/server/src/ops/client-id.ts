import { createHmac } from "node:crypto";
import { networksOf } from "@sotto/protocol";

/** The limit of each network of an address, in multiples of the smallest network's limit. */
export const NETWORK_GROWTH = [1, 2, 4] as const;

/**
 * Makes keyed hashes of networks. With them, a store contains no network addresses, so its file alone does not reveal who paid.
 * @param secret the same on all replicas
 * @param purpose hashes for different purposes cannot be compared
 */
export function networkHashes(secret: string, purpose: string): (network: string) => string {
  const key = createHmac("sha256", purpose).update(secret).digest();
  return (network) => createHmac("sha256", key).update(network).digest("hex").slice(0, 32);
}

/**
 * Makes the ids under which quotas count a client: keyed hashes of its networks, joined by commas, the smallest network
 * first.
 * @param secret the same on all replicas
 */
export function clientIds(secret: string): (address: string) => string {
  const idOf = networkHashes(secret, "sotto client ids");
  return (address) => networksOf(address).map(idOf).join(",");
}

/**
 * The limits of a client's networks: a larger network has a higher one.
 * @param client an id made by `clientIds`
 * @param limit the limit of the smallest network
 */
export function networkLimits(client: string, limit: number): { readonly network: string; readonly limit: number }[] {
  const growth = (index: number) => NETWORK_GROWTH[index] ?? NETWORK_GROWTH.at(-1)!;
  return client.split(",").map((network, index) => ({ network, limit: limit * growth(index) }));
}
