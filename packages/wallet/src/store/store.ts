import { WalletError } from "../errors.ts";

/** The value of a record: JSON. Amounts and field elements are decimal strings, because JSON numbers lose precision. */
export type StoreValue = string | number | boolean | null | StoreValue[] | { [name: string]: StoreValue };

/**
 * A record as it was read. A store never uses a `version` twice, not even for a key that was deleted and created again,
 * so a writer with an outdated record is always refused.
 */
export interface StoredRecord {
  /** Name of the record, unique in the store. */
  key: string;
  /** Identifies this write: a store never uses a version twice. */
  version: number;
  /** JSON. */
  value: StoreValue;
}

/** One change of a batch. */
export type StoreChange =
  | {
      /** Key of the record to write. */
      put: string;
      /** The record's new value. */
      value: StoreValue;
      /** Version that the record must still have; 0: it must not exist. Default: any version is accepted. */
      expected?: number | undefined;
    }
  | {
      /** Key of the record to delete. */
      delete: string;
      /** Version that the record must still have; 0: it must not exist. Default: any version is accepted. */
      expected?: number | undefined;
    };

/**
 * A wallet's state. The seed itself is never stored here. A batch is atomic, and durable except for the records of
 * `isCacheKey`: the wallet restores these from the chain, so a store may return such a record as missing, above all if
 * it is damaged. A record with any other key may be the only copy: if it is damaged, reading it must fail.
 */
export interface Store {
  /** The record with this key. @throws WalletError STORE_DAMAGED */
  get(key: string): Promise<StoredRecord | undefined>;
  /** The records whose key starts with `prefix`, in the order of their keys. @throws WalletError STORE_DAMAGED */
  list(prefix: string): Promise<StoredRecord[]>;
  /**
   * Applies all changes or none.
   * @throws WalletError STORE_CONFLICT if a record has a different version than `expected`.
   */
  batch(changes: readonly StoreChange[]): Promise<void>;
  /** Writes one record, as a batch of one change. */
  put(key: string, value: StoreValue, expected?: number): Promise<void>;
  /** Deletes one record, as a batch of one change. */
  delete(key: string, expected?: number): Promise<void>;
  /** Closes the store. Later calls reject with STORE_CLOSED. */
  close(): Promise<void>;
}

/** Keys are ASCII, so that all implementations sort them alike. */
const KEY = /^[A-Za-z0-9/._:-]{1,200}$/;

/** Keys of the records that a scan of the chain restores. All other records have no second copy. */
const CACHE = /^(page\/|tree$)/;

/** Whether a store may lose this record: the wallet then reads the chain again. */
export const isCacheKey = (key: string): boolean => CACHE.test(key);

/** A change whose value is serialized. Without `text`, the record is deleted. */
export interface Step {
  key: string;
  text: string | undefined;
  expected: number | undefined;
}

/**
 * Checks a batch and serializes its values before anything is written, so that all implementations accept the same
 * batches and a caller that later mutates a value does not change the record.
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

export function assertVersion(key: string, found: number | undefined, expected: number | undefined): void {
  if (expected === undefined || expected === (found ?? 0)) return;
  throw new WalletError(
    "STORE_CONFLICT",
    `record ${key} has version ${found ?? 0}, expected ${expected}: another process uses this store`,
    { key, found: found ?? 0, expected },
  );
}

/** Implements single writes as batches. */
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
