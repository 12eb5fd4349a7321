import type { FastifyInstance } from "fastify";
import type { ServiceLog } from "../ops/log.ts";

/** What the replicas of a server have in common to count requests together. */
export interface SharedCounts {
  /**
   * Stores how many requests this replica counted in a window, and reads what the others counted for the same networks.
   * @param window when it began, ms
   * @param own by network; at most `MAX_SHARED`
   * @returns the sum of all other replicas, by network
   */
  exchange(window: number, own: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>>;
}

/** Length of a window, ms. Windows of all replicas begin at the same time. */
const WINDOW_MS = 60_000;
/** How often replicas exchange their counts, ms. */
const EXCHANGE_MS = 1_000;
/** Networks that are exchanged at once, those nearest to their limit first: a flood must not cost the database more than that. */
export const MAX_SHARED = 500;
/** A network is exchanged once this part of its limit is used: most clients never cost the database anything. */
const SHARED_PART = 10;
/** Networks that are counted; the ones that sent nothing for longest are forgotten first. */
const MAX_NETWORKS = 20_000;

interface Count {
  own: number;
  limit: number;
}

/** Counts requests by network, together with the other replicas. */
export class NetworkCounts {
  readonly #shared: SharedCounts;
  readonly #log: Pick<ServiceLog, "warn">;
  readonly #clock: () => number;
  #window = Number.NaN;
  #counts = new Map<string, Count>();
  #others: ReadonlyMap<string, number> = new Map();
  #exchanging = false;

  /** @param clock now, ms */
  constructor(shared: SharedCounts, log: Pick<ServiceLog, "warn">, clock: () => number = Date.now) {
    this.#shared = shared;
    this.#log = log;
    this.#clock = clock;
  }

  /**
   * Counts one request.
   * @returns how many all replicas counted in this window, as far as this one knows, and when the window ends, ms from now
   */
  add(network: string, limit: number): { readonly current: number; readonly ttl: number } {
    const now = this.#clock();
    this.#begin(now);
    const count = this.#counts.get(network) ?? { own: 0, limit };
    count.own += 1;
    count.limit = limit;
    this.#counts.delete(network);
    this.#counts.set(network, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > MAX_NETWORKS && oldest !== undefined) this.#counts.delete(oldest);
    const current = count.own + (this.#others.get(network) ?? 0);
    return { current, ttl: this.#window + WINDOW_MS - now };
  }

  /** Exchanges counts with the other replicas now, unless that is under way. Never rejects: without the others, each counts alone. */
  async exchange(): Promise<void> {
    this.#begin(this.#clock());
    const own = this.#heaviest();
    if (this.#exchanging || own.size === 0) return;
    this.#exchanging = true;
    const window = this.#window;
    try {
      const others = await this.#shared.exchange(window, own);
      if (window === this.#window) this.#others = others;
    } catch (error) {
      this.#log.warn({ err: error }, "the counts of requests cannot be shared with other replicas");
    } finally {
      this.#exchanging = false;
    }
  }

  #begin(now: number): void {
    const window = Math.floor(now / WINDOW_MS) * WINDOW_MS;
    if (window === this.#window) return;
    this.#window = window;
    this.#counts = new Map();
    this.#others = new Map();
  }

  /** The networks that used most of their limits. */
  #heaviest(): Map<string, number> {
    const used = [...this.#counts].filter(([, { own, limit }]) => own * SHARED_PART >= limit);
    used.sort(([, a], [, b]) => b.own / b.limit - a.own / a.limit);
    return new Map(used.slice(0, MAX_SHARED).map(([network, { own }]) => [network, own]));
  }
}

/** The store of @fastify/rate-limit for these counts. Exchanges them until the server closes. */
export function sharedStore(app: Pick<FastifyInstance, "addHook">, counts: NetworkCounts) {
  const timer = setInterval(() => void counts.exchange(), EXCHANGE_MS);
  timer.unref();
  app.addHook("onClose", async () => clearInterval(timer));
  return class {
    incr(
      network: string,
      done: (error: Error | null, result: { current: number; ttl: number }) => void,
      _window: number,
      limit: number,
    ): void {
      done(null, counts.add(network, limit));
    }

    // Networks of different sizes have different names.
    child(): this {
      return this;
    }
  };
}
