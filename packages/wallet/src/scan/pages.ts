import { hexlify, randomBytes } from "ethers";
import { WalletError } from "../errors.ts";
import type { Store, StoreChange, StoredRecord, StoreValue } from "../store/store.ts";

/**
 * Key of a record that every write changes. It is not part of the cache: a process whose cache was replaced must notice
 * the process that replaced it.
 */
const HEAD = "scan/head";

/**
 * The pages in a wallet's store. A write fails unless this process has seen the previous write, because another process
 * on the same store has pages and journal records that this one does not know.
 */
export class StoredPages {
  readonly #store: Store;
  #head: StoreValue | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The page records in block order. */
  async list(): Promise<StoredRecord[]> {
    // Read before the pages, so that a write in between causes a conflict later instead of a missed page.
    this.#head = (await this.#store.get(HEAD))?.value;
    return this.#store.list("page/");
  }

  /**
   * Writes all changes in one batch, so that the pages have no gap after a crash.
   * @throws WalletError STORE_CONFLICT if another process wrote in the meantime
   */
  async change(changes: readonly StoreChange[]): Promise<void> {
    const found = await this.#store.get(HEAD);
    if (found?.value !== this.#head)
      throw new WalletError("STORE_CONFLICT", "another process changed this store; open the wallet again");
    const head = hexlify(randomBytes(16));
    await this.#store.batch([...changes, { put: HEAD, value: head, expected: found?.version ?? 0 }]);
    this.#head = head;
  }
}
