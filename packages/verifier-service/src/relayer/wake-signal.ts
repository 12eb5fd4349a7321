/** A sleep that others may end early. */
export class WakeSignal {
  readonly #sleepers = new Set<() => void>();
  #woken = false;

  /** Ends all sleeps; with nobody asleep, the next one. */
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
