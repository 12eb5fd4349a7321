import { type Store, type StoredRecord, type StoreValue, WalletError } from "@sotto/wallet";

/** Maximum attempts if other payments write the record at the same time. */
const TRIES = 10;

/**
 * Replaces a record after comparing with it. If another payment writes it in the meantime, compares again.
 * @param next the new value; undefined if the record stays as it is. What it throws refuses the change
 * @throws WalletError STORE_CONFLICT after ten attempts, STORE_DAMAGED
 */
export async function putChecked(
  store: Store,
  key: string,
  next: (record: StoredRecord | undefined) => Promise<StoreValue | undefined>,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const record = await store.get(key);
    const value = await next(record);
    if (value === undefined) return;
    try {
      return await store.put(key, value, record?.version ?? 0);
    } catch (error) {
      if (!(error instanceof WalletError) || error.code !== "STORE_CONFLICT" || tries >= TRIES) throw error;
    }
  }
}
