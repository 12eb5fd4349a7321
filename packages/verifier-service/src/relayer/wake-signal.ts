/** A sleep that can be ended early. */
export class WakeSignal {
  readonly #sleepers = new Set<() => void>();
  #woken = false;

  /** Ends all current sleeps or, if there are none, the next sleep. */
  wake(): void {
    if (this.#sleepers.size === 0) this.#woken = true;
    for (const end of this.#sleepers) end();
  }

  sleep(ms: number): Promise<void> {
    if (this.#woken) {
      this.#woken = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#sleepers.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#sleepers.add(end);
    });
  }
}
