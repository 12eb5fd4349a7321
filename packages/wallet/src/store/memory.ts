import { WalletError } from "../errors.ts";
import { assertVersion, BatchStore, type StoreChange, type StoredRecord, stepsOf } from "./store.ts";

/** A store in memory, for tests and for wallets that are restored from the chain at each start. */
export class MemoryStore extends BatchStore {
  #records = new Map<string, { version: number; text: string }>();
  #version = 0;
  #closed = false;

  async get(key: string): Promise<StoredRecord | undefined> {
    this.#checkOpen();
    const found = this.#records.get(key);
    return found && { key, version: found.version, value: JSON.parse(found.text) };
  }

  async list(prefix: string): Promise<StoredRecord[]> {
    this.#checkOpen();
    return [...this.#records]
      .filter(([key]) => key.startsWith(prefix))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, { version, text }]) => ({ key, version, value: JSON.parse(text) }));
  }

  async batch(changes: readonly StoreChange[]): Promise<void> {
    this.#checkOpen();
    const steps = stepsOf(changes);
    for (const { key, expected } of steps) assertVersion(key, this.#records.get(key)?.version, expected);
    for (const { key, text } of steps) {
      if (text === undefined) this.#records.delete(key);
      else {
        this.#version += 1;
        this.#records.set(key, { version: this.#version, text });
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #checkOpen(): void {
    if (this.#closed) throw new WalletError("STORE_CLOSED", "the store was closed");
  }
}
