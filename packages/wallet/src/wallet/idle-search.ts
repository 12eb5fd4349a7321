import type { SearchOptions } from "./search.ts";

/** What an idle search works with. */
export interface IdleSearchOptions {
  /** The wallet, or a viewing wallet. */
  readonly wallet: { search(options: SearchOptions): Promise<number> };
  /** Called when all blocks are searched, with the number of payments that were found. They are in the wallet then. */
  readonly onSearched?: ((found: number) => void) | undefined;
  /** Called if a search fails. The next one continues where it failed. Default: ignored, because the next scan fails too. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Runs a wallet's `search` while nobody waits: a program starts it after each scan, and stops it before it pays. */
export class IdleSearch {
  readonly #options: IdleSearchOptions;
  #running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  constructor(options: IdleSearchOptions) {
    this.#options = options;
  }

  /** Starts a search unless one runs. It continues where the last one ended, and ends without a request if no block is left. */
  start(): void {
    if (this.#running !== undefined) return;
    const stop = new AbortController();
    const ended = this.#search(stop.signal).finally(() => {
      this.#running = undefined;
    });
    this.#running = { stop, ended };
  }

  /** Stops the search. @returns when it has ended */
  async stop(): Promise<void> {
    this.#running?.stop.abort();
    await this.#running?.ended;
  }

  async #search(signal: AbortSignal): Promise<void> {
    const { wallet, onSearched, onError } = this.#options;
    try {
      const found = await wallet.search({ signal });
      onSearched?.(found);
    } catch (error) {
      if (!signal.aborted) onError?.(error);
    }
  }
}
