import type { Check, ServiceLog } from "@sotto/server";

/** Runs rounds one after the other, with a pause between them. */
export class Rounds {
  readonly #round: () => Promise<void>;
  readonly #pauseMs: number;
  readonly #log: Pick<ServiceLog, "warn">;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  /** The result of the last round; undefined before the first ended. */
  #last: { readonly error?: unknown } | undefined;

  constructor(round: () => Promise<void>, pauseMs: number, log: Pick<ServiceLog, "warn">) {
    this.#round = round;
    this.#pauseMs = pauseMs;
    this.#log = log;
  }

  start(): void {
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    try {
      await this.#round();
      this.#last = {};
    } catch (error) {
      this.#last = { error };
      this.#log.warn({ err: error }, "a round failed; the next one tries again");
    }
    if (!this.#stopped) this.#timer = setTimeout(() => this.start(), this.#pauseMs);
  }

  /** Whether a round has ended. @throws the error of the last round */
  async check(): Promise<Check | undefined> {
    if (this.#last === undefined) return { ok: false, code: "STARTING" };
    if (this.#last.error !== undefined) throw this.#last.error;
    return undefined;
  }

  /** Waits for the running round. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }
}
