import { SottoError } from "@sotto/protocol";
import type { Check, ServiceLog } from "@sotto/server";

/** Runs rounds one after the other, with a pause between them. */
export class Rounds {
  readonly #round: () => Promise<void>;
  readonly #pauseMs: number;
  readonly #log: Pick<ServiceLog, "warn">;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  #check: Check = { ok: false, code: "STARTING" };

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
      this.#check = { ok: true };
    } catch (error) {
      this.#check = { ok: false, code: error instanceof SottoError ? error.code : "UNEXPECTED" };
      this.#log.warn({ err: error }, "a round failed; the next one tries again");
    }
    if (!this.#stopped) this.#timer = setTimeout(() => this.start(), this.#pauseMs);
  }

  /** Whether the last round succeeded. */
  check(): Check {
    return this.#check;
  }

  /** Waits for the running round. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }
}
