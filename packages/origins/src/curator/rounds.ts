import type { Check, ServiceLog } from "@sotto/server";

/** A round that runs for longer than this makes no progress, ms. */
export const STALLED_MS = 300_000;

/** Runs rounds one after the other, with a pause between them. */
export class Rounds {
  readonly #round: () => Promise<void>;
  readonly #pauseMs: number;
  readonly #log: Pick<ServiceLog, "warn">;
  readonly #monotonic: () => number;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  /** When the running round began, ms; undefined between two rounds. */
  #began: number | undefined;
  #stopped = false;
  /** The result of the last round; undefined before the first ended. */
  #last: { readonly error?: unknown } | undefined;

  /** @param monotonic a time that never goes back, ms; for tests */
  constructor(
    round: () => Promise<void>,
    pauseMs: number,
    log: Pick<ServiceLog, "warn">,
    monotonic: () => number = () => performance.now(),
  ) {
    this.#round = round;
    this.#pauseMs = pauseMs;
    this.#log = log;
    this.#monotonic = monotonic;
  }

  start(): void {
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    this.#began = this.#monotonic();
    try {
      await this.#round();
      this.#last = {};
    } catch (error) {
      this.#last = { error };
      this.#log.warn({ err: error }, "a round failed; the next one tries again");
    }
    this.#began = undefined;
    if (!this.#stopped) this.#timer = setTimeout(() => this.start(), this.#pauseMs);
  }

  /** Whether the last round succeeded, and the running one ends. @throws the error of the last round */
  async check(): Promise<Check | undefined> {
    if (this.#last === undefined) return { ok: false, code: "STARTING" };
    if (this.#last.error !== undefined) throw this.#last.error;
    const isStalled = this.#began !== undefined && this.#monotonic() - this.#began > STALLED_MS;
    return isStalled ? { ok: false, code: "STALLED" } : undefined;
  }

  /** Waits for the running round. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }
}
