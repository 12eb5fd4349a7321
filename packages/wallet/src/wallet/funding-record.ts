import type { DepositRequest } from "@sotto/chain/ethers";
import { WalletError } from "../errors.ts";
import type { Store, StoreValue } from "../store/store.ts";

/**
 * A deposit of `fund`. The record is written before the authorization leaves the process. It is deleted when the
 * deposit is finished and its notes are confirmed and in the tree. Until then, a reorganization can remove the notes,
 * or the node may have invented them, and the authorization can still be executed.
 */
export interface FundingRecord {
  /** 32 hex digits: random, or a hash of the caller's key. */
  id: string;
  /** Whether the caller gave a key. Such a record stays, so that only one deposit is made for the key. */
  keyed: boolean;
  /** The depositor, lower-case. */
  account: string;
  /** Base units of each note of this wallet, without a sponsor's. */
  amounts: string[];
  /** Index of the notes' owner tag. */
  keyIndex: number;
  /** Milliseconds. */
  created: number;
  /** The signed authorization. Anyone may submit it, and it can be executed once. */
  request: DepositRequest;
  /** The outcome that `fund` returned; null until then. */
  done: { transaction: string; block: number; gasPaidBy?: string | undefined } | null;
  /** Set when it is finished and its notes are confirmed and in the tree. Only a keyed record stays then. */
  final?: true;
}

const PREFIX = "fund/";

/** The deposits in the store, oldest first. @throws WalletError STORE_DAMAGED */
export async function listFundings(store: Store): Promise<FundingRecord[]> {
  const records = (await store.list(PREFIX)).map(({ key, value }) => parseRecord(key, value));
  return records.sort((a, b) => a.created - b.created);
}

/**
 * The finished deposits whose notes are not confirmed yet or not in the tree yet. A damaged record is skipped: it must
 * not stop a scan, and `listFundings` reports it.
 */
export async function listUnconfirmed(store: Store): Promise<FundingRecord[]> {
  const records = (await store.list(PREFIX)).filter(({ key, value }) => isRecord(key, value));
  return records.map(({ value }) => value as unknown as FundingRecord).filter(({ done, final }) => done && !final);
}

/** @throws WalletError STORE_DAMAGED */
export async function findFunding(store: Store, id: string): Promise<FundingRecord | undefined> {
  if (!/^[0-9a-f]{32}$/.test(id)) return undefined;
  const found = await store.get(PREFIX + id);
  return found && parseRecord(found.key, found.value);
}

export function writeFunding(store: Store, record: FundingRecord): Promise<void> {
  return store.put(PREFIX + record.id, record as unknown as StoreValue);
}

export function deleteFunding(store: Store, { id }: FundingRecord): Promise<void> {
  return store.delete(PREFIX + id);
}

function isRecord(key: string, value: StoreValue): boolean {
  const { id, account, amounts, keyIndex, created, request } = Object(value) as Partial<FundingRecord>;
  return (
    PREFIX + id === key &&
    typeof account === "string" &&
    Array.isArray(amounts) &&
    Number.isSafeInteger(keyIndex) &&
    Number.isFinite(created) &&
    typeof request?.validBefore === "string"
  );
}

function parseRecord(key: string, value: StoreValue): FundingRecord {
  if (!isRecord(key, value))
    throw new WalletError("STORE_DAMAGED", `record ${key} is not a deposit that this version wrote`, { key });
  return value as unknown as FundingRecord;
}
