// Which clients have recently sent invalid proofs. Like quotas, it counts for each network of a client, and a larger network
// may have more failures, so that the addresses of one network are not as many clients.
import { networkLimits } from "@sotto/server";

/** A failure counts until its network has had none for this long, ms. */
const MEMORY_MS = 300_000;
/** Maximum remembered networks. The network whose last failure is the oldest is forgotten first. */
export const MAX_NETWORKS = 16_384;

interface Failed {
  readonly count: number;
  /** Of the last failure, ms. */
  readonly at: number;
}

/** Remembers failed proofs by network. */
export class Failures {
  readonly #clock: () => number;
  /** In the order of their last failures. */
  readonly #networks = new Map<string, Failed>();

  /** @param clock ms; it never goes back */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Number of remembered networks. */
  get size(): number {
    return this.#networks.size;
  }

  /** Number of networks that had a failure recently. */
  get recent(): number {
    const since = this.#clock() - MEMORY_MS;
    return Array.from(this.#networks.values()).filter(({ at }) => at > since).length;
  }

  /** @param client an id made by `clientIds` */
  add(client: string): void {
    const at = this.#clock();
    for (const { network } of networkLimits(client, 1)) {
      const count = (this.#recent(network)?.count ?? 0) + 1;
      // Deleted first, so that the network moves to the end of the order.
      this.#networks.delete(network);
      this.#networks.set(network, { count, at });
    }
    for (const network of this.#networks.keys()) {
      if (this.#networks.size <= MAX_NETWORKS) return;
      this.#networks.delete(network);
    }
  }

  /** Whether the client, or one of its networks as a whole, has failed proofs. */
  has(client: string): boolean {
    return networkLimits(client, 1).some(({ network, limit }) => (this.#recent(network)?.count ?? 0) >= limit);
  }

  #recent(network: string): Failed | undefined {
    const found = this.#networks.get(network);
    return found !== undefined && this.#clock() - found.at < MEMORY_MS ? found : undefined;
  }
}
