// Stores the vault: one record in a separate IndexedDB database, so that deleting a wallet's notes keeps its key.
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import { parseSealed, type Sealed } from "./vault.ts";

/** The chain that a wallet has read: a restarted local chain has the same id and pool, but another genesis block. */
export interface KnownChain {
  readonly chainId: number;
  readonly pool: string;
  /** Hash of block 0. */
  readonly genesis: string;
}

/** One wallet of this browser. Only the content of `sealed` is secret. */
export interface Vault {
  /** Random, hex; part of the names of the wallet's databases. */
  readonly id: string;
  readonly sealed: Sealed;
  /** Undefined before the wallet was opened on a chain. */
  readonly chain: KnownChain | undefined;
}

interface Schema extends DBSchema {
  vaults: { key: string; value: unknown };
}

/** The only record key: this app keeps one wallet per browser. */
const KEY = "wallet";

let database: Promise<IDBPDatabase<Schema>> | undefined;
const opened = () => {
  database ??= openDB<Schema>("sotto-vault", 1, { upgrade: (db) => void db.createObjectStore("vaults") });
  return database;
};

/** @throws WebError VAULT_DAMAGED */
export async function readVault(): Promise<Vault | undefined> {
  const found = await (await opened()).get("vaults", KEY);
  if (found === undefined) return undefined;
  const { id, sealed, chain } = found as Vault;
  return { id: String(id), sealed: parseSealed(sealed, "VAULT_DAMAGED"), chain };
}

export async function writeVault(vault: Vault): Promise<void> {
  const transaction = (await opened()).transaction("vaults", "readwrite", { durability: "strict" });
  await Promise.all([transaction.store.put(vault, KEY), transaction.done]);
}

export async function deleteVault(): Promise<void> {
  await (await opened()).delete("vaults", KEY);
}
