/** Preparations wait while the wallet makes proofs that somebody waits for, and are repeated after them. */
export class ProofQueue {
  #running = 0;
  #preparing: AbortController | undefined;
  #waiting: (() => void)[] = [];
  #last: Promise<unknown> = Promise.resolve();

  /** Makes a proof at once, and stops a running preparation. */
  async now<T>(prove: () => Promise<T>): Promise<T> {
    this.#running += 1;
    this.#preparing?.abort();
    try {
      return await prove();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) for (const resume of this.#waiting.splice(0)) resume();
    }
  }

  /**
   * Prepares something while no proof is made, one preparation at a time.
   * @param prepare must reject soon after its signal is aborted; it is called again if a proof stopped it
   * @throws the signal's reason
   */
  whenIdle<T>(prepare: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const result = this.#last.then(() => this.#repeat(prepare, signal));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #repeat<T>(prepare: (signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    for (;;) {
      signal?.throwIfAborted();
      if (this.#running > 0) {
        await new Promise<void>((resume) => this.#waiting.push(resume));
        continue;
      }
      const stop = new AbortController();
      this.#preparing = stop;
      try {
        return await prepare(signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]));
      } catch (error) {
        signal?.throwIfAborted();
        if (!stop.signal.aborted) throw error;
      } finally {
        this.#preparing = undefined;
      }
    }
  }
}
