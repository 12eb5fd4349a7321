import { hexlify, randomBytes } from "ethers";
import { WalletError } from "../errors.ts";
import type { Store, StoreChange, StoredRecord, StoreValue } from "../store/store.ts";

/** A word that every write changes. */
const HEAD = "scan/head";

/**
 * The pages in a wallet's store. A wallet that writes must have seen the last write: another process on the same store has
 * pages that are not in this one's ledger, and a journal that this one does not see.
 */
export class StoredPages {
  readonly #store: Store;
  #head: StoreValue | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The records, in the order of their blocks. */
  async list(): Promise<StoredRecord[]> {
    // Before them: what is written in between is a conflict later, not a page that is missed.
    this.#head = (await this.#store.get(HEAD))?.value;
    return this.#store.list("page/");
  }

  /**
   * All changes in one batch: the pages have no gap whenever the process dies.
   * @throws WalletError STORE_CONFLICT where another wallet has written since
   */
  async change(changes: readonly StoreChange[]): Promise<void> {
    const found = await this.#store.get(HEAD);
    if (found?.value !== this.#head)
      throw new WalletError("STORE_CONFLICT", "another process uses this store: open the wallet again");
    const head = hexlify(randomBytes(16));
    await this.#store.batch([...changes, { put: HEAD, value: head, expected: found?.version ?? 0 }]);
    this.#head = head;
  }
}
