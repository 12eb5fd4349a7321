import type { EthCall } from "@sotto/protocol";
import { networkLimits } from "@sotto/server";
import { PhoneError } from "../errors.ts";

const HOUR_MS = 3_600_000;
/** Maximum concurrent checks. */
const AT_ONCE = 4;
/** Maximum number of clients that are counted: far more than use the registry in an hour. */
const MAX_CLIENTS = 100_000;

/** The limits of signature checks that ask the chain. */
export interface ContractCheckOptions {
  /** Calls contract wallets on the pool's chain. */
  readonly call: EthCall;
  /** Checks per client and hour, on each replica. */
  readonly perHour: number;
  /** Current time, ms. */
  readonly clock: () => number;
  /** Counts a check that asked the chain, was refused by the limit, or failed. Default: nothing is counted. */
  readonly count?: ((outcome: "asked" | "limited" | "failed") => void) | undefined;
}

/**
 * Only the chain can tell whether a contract wallet accepts a signature, and anyone can send signatures. So these
 * checks are limited per client, and so is the number of concurrent checks.
 */
export class ContractChecks {
  #options: ContractCheckOptions;
  #used = new Map<string, number>();
  #hour = 0;
  #running = 0;

  constructor(options: ContractCheckOptions) {
    this.#options = options;
  }

  /** Changes the limit per client and hour from the next check on. */
  configure(perHour: number): void {
    this.#options = { ...this.#options, perHour };
  }

  /**
   * Runs a check that may call the chain for a client.
   * @throws PhoneError CONTRACT_CHECKS_LIMITED, CHAIN_UNAVAILABLE, and what `check` throws otherwise
   */
  async run<T>(client: string, check: (call: EthCall) => Promise<T>): Promise<T> {
    let own: unknown;
    try {
      return await check(async (request) => {
        try {
          return await this.#ask(client, request);
        } catch (error) {
          own = error;
          throw error;
        }
      });
    } catch (error) {
      // The checks wrap every error of the chain in BINDING_UNCHECKED.
      throw own ?? error;
    }
  }

  async #ask(client: string, request: Parameters<EthCall>[0]): Promise<string> {
    const { call, count } = this.#options;
    this.#take(client);
    this.#running += 1;
    try {
      count?.("asked");
      return await call(request);
    } catch (cause) {
      count?.("failed");
      if (cause instanceof PhoneError) throw cause;
      throw new PhoneError("CHAIN_UNAVAILABLE", "no node of the chain responds; try again", {}, { cause });
    } finally {
      this.#running -= 1;
    }
  }

  #take(client: string): void {
    const { perHour, clock, count } = this.#options;
    const now = clock();
    const hour = Math.floor(now / HOUR_MS);
    if (hour !== this.#hour || this.#used.size > MAX_CLIENTS) {
      this.#hour = hour;
      this.#used = new Map();
    }
    const networks = networkLimits(client, perHour);
    const busy = this.#running >= AT_ONCE;
    if (busy || networks.some(({ network, limit }) => (this.#used.get(network) ?? 0) >= limit)) {
      count?.("limited");
      const retryAfter = busy ? 1 : ((hour + 1) * HOUR_MS - now) / 1000;
      const message = busy
        ? `limit exceeded: ${AT_ONCE} checks of contract wallets' signatures at once`
        : `limit exceeded: ${perHour} checks of contract wallets' signatures an hour for one network address`;
      throw new PhoneError("CONTRACT_CHECKS_LIMITED", message, { retryAfter });
    }
    for (const { network } of networks) this.#used.set(network, (this.#used.get(network) ?? 0) + 1);
  }
}
