import type { Store, StoreChange } from "@sotto/wallet";

/**
 * Writes changes in batches: changes that arrive while a batch is written share the next one. A change replaces a
 * waiting change of the same key. Thus many concurrent requests cost few durable writes.
 */
export class BatchWriter {
  readonly #store: Store;
  #waiting = new Map<string, StoreChange>();
  #next: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves when the changes are durable. They are applied together. */
  write(...changes: StoreChange[]): Promise<void> {
    for (const change of changes) this.#waiting.set("put" in change ? change.put : change.delete, change);
    if (this.#next === undefined) {
      this.#next = this.#last.then(() => {
        const batch = [...this.#waiting.values()];
        this.#waiting = new Map();
        this.#next = undefined;
        return this.#store.batch(batch);
      });
      this.#last = this.#next.catch(() => undefined);
    }
    return this.#next;
  }
}
