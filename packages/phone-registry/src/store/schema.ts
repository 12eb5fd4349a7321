// The tables. Every text column except key ids is a random id, a keyed hash or a ciphertext. Visible without keys are the number of
// rows, which rows belong to the same number, when they expire, and how often a code was tried.
import type { Database } from "@sotto/database";
import type { Kysely, Selectable } from "kysely";

/** Links. `slot` is unique: one verified link per number, one unverified link per number and wallet. */
export interface MappingTable {
  id: string;
  /** Blind index of the number. */
  number: string;
  /** Blind index of the number (verified) or of number and wallet (not verified). */
  slot: string;
  /** Id of the index key of `number` and `slot`. */
  index_key: string;
  /** 1 or 0. */
  verified: number;
  /** Grows with each change of the record. */
  version: number;
  /** Id of the master key that wraps the data key. */
  master_key: string;
  envelope: string;
  /** When the row may be deleted, ms; for verified links rounded up to a day. */
  sweep_at: number;
}

/** The newest version of each link, in a separate table: a link that is restored alone does not match its head. */
export interface HeadTable {
  id: string;
  version: number;
  master_key: string;
  seal: string;
}

export interface CodeTable {
  mapping_id: string;
  index_key: string;
  hash: string;
  tries: number;
  /** ms */
  expires_at: number;
}

/** Values that are accepted once: digests of structs, nonces of signed requests. */
export interface OnceTable {
  key: string;
  index_key: string;
  expires_at: number;
}

export interface QuotaTable {
  /** Keyed hash of scope, subject and window, so that a subject has another key in each window. */
  key: string;
  index_key: string;
  used: number;
  ends_at: number;
}

export interface AuditTable {
  id: string;
  at: number;
  action: string;
  outcome: string;
  /** Keyed pseudonyms, with a different key for each kind. */
  number: string | null;
  wallet: string | null;
  client: string | null;
  index_key: string;
}

export interface KeyTable {
  /** Kind and id. */
  name: string;
  fingerprint: string;
}

/** One row with the sum over all links. */
export interface LedgerTable {
  name: string;
  master_key: string;
  envelope: string;
}

export interface Schema {
  phone_ledger: LedgerTable;
  phone_mappings: MappingTable;
  phone_heads: HeadTable;
  phone_codes: CodeTable;
  phone_once: OnceTable;
  phone_quotas: QuotaTable;
  phone_audit: AuditTable;
  phone_keys: KeyTable;
}

export type RegistryDatabase = Database<Schema>;
/** A connection or a transaction. */
export type Db = Kysely<Schema>;
export type Row<T extends keyof Schema> = Selectable<Schema[T]>;
