// Stores of one database, for replicas of a service, and a clock that the test sets.
import { type NewDeposit, openStore, type Store } from "../../src/store/index.ts";

export const NOW = 1_790_000_000_000;

export class TestStores {
  /** The stores' time, ms. */
  time = NOW;
  /** The database's URL. */
  url = "";
  readonly #opened: Store[] = [];

  async open(url = this.url): Promise<Store> {
    const store = await openStore({ url, clock: () => this.time });
    this.#opened.push(store);
    return store;
  }

  async closeAll(): Promise<void> {
    for (const store of this.#opened.splice(0)) await store.close();
  }
}

/** Gives each test an empty database, and closes its stores afterwards. */
export function storesPerTest(newUrl: () => Promise<string>): TestStores {
  const stores = new TestStores();
  beforeEach(async () => {
    stores.time = NOW;
    stores.url = await newUrl();
  });
  afterEach(() => stores.closeAll());
  return stores;
}

/** A deposit of account 0x01: 1 base unit of a balance of 100. */
export const newDeposit = (id: string, change: Partial<NewDeposit> = {}): NewDeposit => ({
  id,
  digest: `0x01:${id}`,
  call: {},
  client: "c",
  validUntil: NOW / 1000 + 600,
  account: "0x01",
  amount: 1n,
  balance: 100n,
  ...change,
});
