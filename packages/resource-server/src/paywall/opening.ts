// Connects a paywall to its chain and its service before it can check payments. If one of them cannot be reached, it
// retries with increasing pauses until both have answered.

import { codeOf } from "../errors.ts";
import type { Checks } from "./checks.ts";
import type { PaywallEvent } from "./events.ts";
import type { PaywallOptions } from "./options.ts";
import type { PoolToken } from "./pool-token.ts";

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/** Errors that may pass. Every other error means that an option is wrong, and is permanent. */
const TRANSIENT: readonly unknown[] = ["CHAIN_UNAVAILABLE", "SERVICE_UNAVAILABLE", "PAYWALL_CLOCK_WRONG"];

export interface OpeningParts {
  /** Reads the values that a 402 needs from the chain. */
  readonly readToken: () => Promise<PoolToken>;
  /** Reads the keys that the checks need from the service. */
  readonly openChecks: () => Promise<Checks>;
  /** Compares this machine's clock with the chain's time. Until it is right, the paywall is not ready. */
  readonly checkClock: () => Promise<void>;
  readonly report: (event: PaywallEvent) => void;
  /** Resolves after `ms`, or early if the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export class Opening {
  /** Settles with the first attempt. Rejects on a permanent error. */
  readonly attempted: Promise<void>;
  /** Resolves once the paywall can check payments, or is closed. Rejects on a permanent error. */
  readonly ready: Promise<void>;
  readonly #parts: OpeningParts;
  readonly #closed = new AbortController();
  /** Resolves after the first request to the chain. */
  readonly #chainAsked: Promise<void>;
  #resolveChainAsked = () => {};
  #token: PoolToken | undefined;
  #checks: Checks | undefined;
  /** Code of the last failure; undefined once an attempt has succeeded. */
  #failure: string | undefined;

  constructor(parts: OpeningParts) {
    this.#parts = parts;
    this.#chainAsked = new Promise((resolve) => {
      this.#resolveChainAsked = resolve;
    });
    const first = this.#attempt();
    this.attempted = first.then(() => undefined);
    // Callers handle the rejection of the promise that they await; this one may have no listener.
    this.attempted.catch(() => undefined);
    this.ready = first.then((opened) => (opened ? undefined : this.#retryUntilOpen()));
  }

  /**
   * The pool's token, after the first request to the chain. Undefined if the chain was not reached, or on a permanent
   * error.
   */
  async token(): Promise<PoolToken | undefined> {
    await this.#chainAsked;
    return this.#failedPermanently ? undefined : this.#token;
  }

  /** The pool's token; undefined until the chain was reached and all checks that need it have passed. */
  get knownToken(): PoolToken | undefined {
    return this.#token;
  }

  /** The checks, after the first attempt. Undefined until the service is reached. */
  async checks(): Promise<Checks | undefined> {
    await this.attempted.catch(() => undefined);
    return this.#checks;
  }

  /** Code of the error that prevents the paywall from checking payments. */
  get failure(): string {
    return this.#failure ?? "UNKNOWN";
  }

  /** Stops retrying. */
  close(): void {
    this.#closed.abort();
  }

  get #failedPermanently(): boolean {
    return this.#failure !== undefined && !TRANSIENT.includes(this.#failure);
  }

  async #retryUntilOpen(): Promise<void> {
    const { pause, report } = this.#parts;
    for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, MAX_PAUSE_MS)) {
      await pause(ms, this.#closed.signal);
      if (this.#closed.signal.aborted) return;
      if (await this.#attempt()) break;
    }
    report({ event: "opened" });
  }

  /** @returns whether the paywall is open */
  async #attempt(): Promise<boolean> {
    const { readToken, openChecks, checkClock, report } = this.#parts;
    try {
      this.#token ??= await readToken();
      this.#resolveChainAsked();
      this.#checks ??= await openChecks();
      await checkClock();
      this.#failure = undefined;
      return true;
    } catch (error) {
      this.#failure = codeOf(error);
      this.#resolveChainAsked();
      if (this.#closed.signal.aborted) return false;
      if (this.#failedPermanently) throw error;
      report({ event: "opening", reason: this.#failure, error });
      return false;
    }
  }
}

/**
 * Returns the function that reports events to the operator. It ignores exceptions of the hook. Without a hook, a
 * paywall that cannot open emits one process warning per reason instead of waiting silently, and one a day while its
 * addresses are due.
 */
export function createReporter({ onEvent }: Pick<PaywallOptions, "onEvent">): (event: PaywallEvent) => void {
  const warned = new Set<string>();
  const warn = ({ event, error, month, days }: PaywallEvent) => {
    if (event === "addresses") {
      const ends =
        Number(days) < 0
          ? `ended with ${month}, so nobody can pay it`
          : `end with ${month}, the last month; days left: ${days}`;
      const message = `the addresses of this paywall ${ends}; sign the next ones with \`sotto address schedule\``;
      process.emitWarning(message, { type: "SottoWarning", code: "ADDRESSES_END" });
      return;
    }
    const code = codeOf(error);
    if (event !== "opening" || !(error instanceof Error) || warned.has(code)) return;
    warned.add(code);
    process.emitWarning(`the paywall cannot accept payments yet and keeps retrying: ${error.message}`, {
      type: "SottoWarning",
      code,
    });
  };
  return (event) => {
    try {
      (onEvent ?? warn)(event);
    } catch {
      // A request must not fail because of the operator's hook.
    }
  };
}
