// What a paywall has to ask others for before it can sell: its chain, and its service. If one of them cannot be reached,
// it asks again, less and less often, until it has everything.

import type { Checks } from "./checks.ts";
import type { PaywallEvent } from "./options.ts";
import type { PoolToken } from "./pool-token.ts";

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/** Errors of what may work a moment later. Everything else is wrong in the options, and stays wrong. */
const PASSING: readonly unknown[] = ["CHAIN_UNAVAILABLE", "SERVICE_UNAVAILABLE"];

export interface OpeningParts {
  /** Asks the chain: what a 402 needs. */
  readonly readToken: () => Promise<PoolToken>;
  /** Asks the service: what the checks of a proof need. */
  readonly openChecks: () => Promise<Checks>;
  readonly report: (event: PaywallEvent) => void;
  /** Waits; resolves early if the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "UNKNOWN";
};

export class Opening {
  /** Ends with the first attempt. Rejects if it failed for good. */
  readonly attempted: Promise<void>;
  /** Resolves once the paywall can sell, or was closed before. Rejects if it never will. */
  readonly ready: Promise<void>;
  readonly #parts: OpeningParts;
  readonly #closed = new AbortController();
  /** Ends with the first question to the chain. */
  readonly #chainAsked: Promise<void>;
  #tellChainAsked = () => {};
  #token: PoolToken | undefined;
  #checks: Checks | undefined;
  /** The last failure's code, until there is none any more. */
  #failure: string | undefined;

  constructor(parts: OpeningParts) {
    this.#parts = parts;
    this.#chainAsked = new Promise((resolve) => {
      this.#tellChainAsked = resolve;
    });
    const first = this.#attempt();
    this.attempted = first.then(() => undefined);
    // Each has its own listeners: whoever waits for one of them is told of a failure by that one.
    this.attempted.catch(() => undefined);
    this.ready = first.then((opened) => (opened ? undefined : this.#keepTrying()));
  }

  /** The pool's token, once the chain was asked. Undefined: it was not reached yet, or the paywall will never sell. */
  async token(): Promise<PoolToken | undefined> {
    await this.#chainAsked;
    return this.#failedForGood ? undefined : this.#token;
  }

  /** The checks of a proof, once the first attempt has ended. Undefined: the service was not reached yet. */
  async checks(): Promise<Checks | undefined> {
    await this.attempted.catch(() => undefined);
    return this.#checks;
  }

  /** Code of the error that keeps the paywall from selling. */
  get failure(): string {
    return this.#failure ?? "UNKNOWN";
  }

  /** Ends the attempts. */
  close(): void {
    this.#closed.abort();
  }

  get #failedForGood(): boolean {
    return this.#failure !== undefined && !PASSING.includes(this.#failure);
  }

  async #keepTrying(): Promise<void> {
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
    const { readToken, openChecks, report } = this.#parts;
    try {
      this.#token ??= await readToken();
      this.#tellChainAsked();
      this.#checks = await openChecks();
      this.#failure = undefined;
      return true;
    } catch (error) {
      this.#failure = codeOf(error);
      this.#tellChainAsked();
      if (this.#closed.signal.aborted) return false;
      if (this.#failedForGood) throw error;
      report({ event: "opening", reason: this.#failure, error });
      return false;
    }
  }
}
