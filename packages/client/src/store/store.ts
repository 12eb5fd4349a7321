import { WalletError } from "../errors.ts";

/** What a record may hold: JSON. Amounts and field elements travel as decimal strings, because JSON numbers round. */
export type StoreValue = string | number | boolean | null | StoreValue[] | { [name: string]: StoreValue };

/** A record as it was read. `version` is never given twice by one store, not even to a key that was deleted and made
 * again, so that a writer who saw an older record always notices. */
export interface StoredRecord {
  key: string;
  version: number;
  value: StoreValue;
}

/** One change of a batch. `expected` is the version the record must still have, 0 if it must not exist, left out if it
 * does not matter. */
export type StoreChange = { put: string; value: StoreValue; expected?: number } | { delete: string; expected?: number };

/**
 * Where a wallet keeps its state. Everything in it can be read again from the seed and the chain, except what is in
 * flight; the seed itself is never put here. A batch is durable and atomic: after a crash all of it is there or none.
 */
export interface Store {
  get(key: string): Promise<StoredRecord | undefined>;
  /** The records whose key starts with `prefix`, in the order of their keys. */
  list(prefix: string): Promise<StoredRecord[]>;
  /** Applies all changes or none. @throws WalletError STORE_CONFLICT where `expected` does not hold. */
  batch(changes: readonly StoreChange[]): Promise<void>;
  put(key: string, value: StoreValue, expected?: number): Promise<void>;
  delete(key: string, expected?: number): Promise<void>;
  close(): Promise<void>;
}

/** Keys are plain ASCII so that every implementation sorts them alike. */
const KEY = /^[A-Za-z0-9/._:-]{1,200}$/;

/** A change as it is written. Without a text the record goes. */
interface Step {
  key: string;
  text: string | undefined;
  expected: number | undefined;
}

/**
 * Refuses what one of the implementations could not keep, before anything is written: a value that is not JSON too. As
 * text, a record does not change with an object that its caller goes on changing.
 */
export function stepsOf(changes: readonly StoreChange[]): Step[] {
  const seen = new Set<string>();
  return changes.map((change) => {
    const key = "put" in change ? change.put : change.delete;
    if (!KEY.test(key))
      throw new WalletError("INVALID_STORE_KEY", `store key ${JSON.stringify(key)} is not ${KEY.source}`);
    if (seen.has(key)) throw new WalletError("INVALID_STORE_KEY", `store key ${key} is changed twice in one batch`);
    seen.add(key);
    return { key, text: "put" in change ? JSON.stringify(change.value) : undefined, expected: change.expected };
  });
}

export function checkVersion(key: string, found: number | undefined, expected: number | undefined): void {
  if (expected === undefined || expected === (found ?? 0)) return;
  throw new WalletError(
    "STORE_CONFLICT",
    `record ${key} has version ${found ?? 0}, expected ${expected}: another process uses this store`,
    { key, found: found ?? 0, expected },
  );
}

/** The writes of one record in terms of a batch, the same for every implementation. */
export abstract class BatchStore implements Store {
  abstract get(key: string): Promise<StoredRecord | undefined>;
  abstract list(prefix: string): Promise<StoredRecord[]>;
  abstract batch(changes: readonly StoreChange[]): Promise<void>;
  abstract close(): Promise<void>;

  put(key: string, value: StoreValue, expected?: number): Promise<void> {
    return this.batch([{ put: key, value, expected }]);
  }

  delete(key: string, expected?: number): Promise<void> {
    return this.batch([{ delete: key, expected }]);
  }
}
