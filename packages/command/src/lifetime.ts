// The lifetime of a command that serves until it is stopped: by Ctrl-C, by another signal, or when the process that
// started it ends. Then the command closes everything that it has opened.

/** Interval between checks whether the parent process has ended, ms. */
const PARENT_MS = 1_000;
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export class Lifetime {
  readonly #stopping = new AbortController();
  /** Cleanup actions; the last one added runs first. */
  readonly #actions: (() => unknown)[] = [];
  #ending: Promise<void> | undefined;

  constructor() {
    for (const [signal, code] of Object.entries(EXIT_CODES)) process.once(signal, () => this.#exit(code));
    // If the process that started this one is killed, no signal reports it.
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) this.#exit(EXIT_CODES.SIGHUP);
    }, PARENT_MS).unref();
  }

  /** Aborted when the command begins to shut down. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** @param action closes something; its errors are ignored */
  atEnd(action: () => unknown): void {
    this.#actions.push(action);
  }

  /** Closes everything, once. */
  end(): Promise<void> {
    this.#ending ??= (async () => {
      this.#stopping.abort();
      for (let action = this.#actions.pop(); action; action = this.#actions.pop())
        await (async () => action())().catch(() => {});
    })();
    return this.#ending;
  }

  /**
   * Runs a command's main function, then ends. After a signal, its errors are ignored: they only report that something
   * it used was closed.
   */
  async run(main: () => Promise<void>): Promise<void> {
    try {
      await main();
    } catch (error) {
      if (!this.signal.aborted) throw error;
    } finally {
      await this.end();
    }
  }

  #exit(code: number): void {
    void this.end().finally(() => process.exit(code));
  }
}
