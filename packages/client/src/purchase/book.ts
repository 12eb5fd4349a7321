import { Lock, type Store, type StoreChange, type StoreValue, WalletError } from "@sotto/wallet";
import { PurchaseError } from "./errors.ts";
import { release, reserve, type SpendingLimits } from "./limits.ts";
import { type FinishedRecord, type PurchaseRecord, readRecord } from "./record.ts";

const openKey = (id: string): string => `purchase/${id}`;
const finishedKey = (id: string): string => `purchased/${id}`;
/** Records are JSON; their interfaces lack the index signature that StoreValue requires. */
const toValue = (record: PurchaseRecord | FinishedRecord): StoreValue => record as unknown as StoreValue;

/** Maximum attempts to write a batch while another process writes the same records. */
const TRIES = 50;

/**
 * The purchases in a wallet's store: in progress, stopped until the user decides, finished. A process has one book per
 * store, so that two calls never work on the same purchase.
 */
export class PurchaseBook {
  readonly #store: Store;
  readonly #open = new Map<string, PurchaseRecord>();
  readonly #claimed = new Set<string>();
  readonly #lock = new Lock();

  private constructor(store: Store) {
    this.#store = store;
  }

  static async open(store: Store): Promise<PurchaseBook> {
    const book = new PurchaseBook(store);
    for (const { value } of await store.list("purchase/")) {
      const record = readRecord(value);
      book.#open.set(record.id, record);
    }
    return book;
  }

  /** All unfinished purchases, oldest first. */
  list(): PurchaseRecord[] {
    return [...this.#open.values()].sort((a, b) => a.created - b.created);
  }

  get(id: string): PurchaseRecord | undefined {
    return this.#open.get(id);
  }

  async finished(id: string): Promise<FinishedRecord | undefined> {
    return (await this.#store.get(finishedKey(id)))?.value as unknown as FinishedRecord | undefined;
  }

  /** The oldest unfinished, unclaimed purchase of an equal request. */
  unfinished(request: string): PurchaseRecord | undefined {
    return this.list().find((record) => record.request === request && !this.#claimed.has(record.id));
  }

  busy(id: string): boolean {
    return this.#claimed.has(id);
  }

  /**
   * Acquires the exclusive claim on a purchase.
   * @returns a function that releases it
   * @throws PurchaseError PURCHASE_IN_PROGRESS
   */
  claim(id: string): () => void {
    if (this.#claimed.has(id))
      throw new PurchaseError("PURCHASE_IN_PROGRESS", "this process is already working on the purchase with this key", {
        id,
      });
    this.#claimed.add(id);
    let held = true;
    return () => {
      // Release only once: after that, another call may have claimed the purchase.
      if (held) this.#claimed.delete(id);
      held = false;
    };
  }

  /** Writes a new purchase and reserves its price in one batch. */
  begin(record: PurchaseRecord, limits: SpendingLimits): Promise<void> {
    return this.#write(async () => {
      const { reserved, price } = record;
      const reservation = reserved === null ? [] : await reserve(this.#store, limits, BigInt(price), reserved);
      const { id } = record;
      // The batch fails if another process began or finished this purchase in the meantime.
      const fresh: StoreChange = { delete: finishedKey(id), expected: 0 };
      await this.#store.batch([{ put: openKey(id), value: toValue(record), expected: 0 }, fresh, ...reservation]);
      this.#open.set(record.id, record);
    });
  }

  /** Replaces the record of a purchase. */
  async update(record: PurchaseRecord): Promise<PurchaseRecord> {
    await this.#store.put(openKey(record.id), toValue(record));
    this.#open.set(record.id, record);
    return record;
  }

  /** Closes a paid purchase. Its price still counts against the limits. */
  async finish(record: PurchaseRecord): Promise<void> {
    const { id, created, payments, recipient, price, resourceUrl, service, settled } = record;
    if (settled === null) throw new PurchaseError("PURCHASE_INVALID", `purchase ${id} is not paid`);
    const over: FinishedRecord = { id, created, payments, recipient, price, resourceUrl, service, settled };
    await this.#store.batch([{ delete: openKey(id) }, { put: finishedKey(id), value: toValue(over) }]);
    this.#open.delete(id);
  }

  /** Closes a purchase that can never be paid and releases its price from the limits, once. */
  abandon(record: PurchaseRecord): Promise<void> {
    return this.#write(async () => {
      const { id, reserved, price } = record;
      const stored = await this.#store.get(openKey(id));
      if (stored !== undefined) {
        const changes: StoreChange[] = reserved === null ? [] : await release(this.#store, BigInt(price), reserved);
        await this.#store.batch([{ delete: openKey(id), expected: stored.version }, ...changes]);
      }
      this.#open.delete(id);
    });
  }

  /** Serializes writes within the process, and retries if another process changed the records first. */
  #write(action: () => Promise<void>): Promise<void> {
    return this.#lock.run(async () => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await action();
        } catch (error) {
          const conflict = error instanceof WalletError && error.code === "STORE_CONFLICT";
          if (!conflict || tries >= TRIES) throw error;
        }
      }
    });
  }
}

const books = new WeakMap<Store, Promise<PurchaseBook>>();

/** Returns the book of a store, always the same instance. */
export function bookOf(store: Store): Promise<PurchaseBook> {
  let book = books.get(store);
  if (book === undefined) {
    book = PurchaseBook.open(store);
    book.catch(() => books.delete(store));
    books.set(store, book);
  }
  return book;
}
