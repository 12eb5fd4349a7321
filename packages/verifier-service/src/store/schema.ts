// The tables. Times are milliseconds since the Unix epoch, amounts and field elements decimal text, hashes hex with 0x.
import type { LeaseTable } from "@sotto/database";
import { type Generated, type Insertable, type Kysely, type Selectable, sql } from "kysely";

export type OperationKind = "payment" | "deposit" | "withdrawal";

/**
 * queued: not in a transaction. broadcast: in a stored transaction, which may be sent and mined but is not confirmed.
 * settled: on chain with the configured confirmations. failed, expired: it can no longer succeed.
 */
export type OperationState = "queued" | "broadcast" | "settled" | "failed" | "expired";

/** sent: stored, possibly sent. mined: in a block. final: confirmed. dropped: another transaction used its nonce. */
export type TransactionState = "sent" | "mined" | "final" | "dropped";
export type TransactionKind = "settle" | "deposit" | "withdraw" | "append" | "cancel";

export interface ReservationTable {
  id: string;
  nullifier: string;
  /** keccak256 of the public signals. */
  digest: string;
  /** The bundle that was verified, JSON. */
  bundle: string;
  recipient: string;
  client: string;
  /** When its token expires. */
  expires_at: number;
  /** The last second in which the payment may settle; the contract enforces it. */
  valid_until: number;
  created_at: number;
  /** Traceparent of its verification; null if that is not traced. */
  trace: string | null;
}

/** The holder of a nullifier: a reservation until `expires_at`, or (`queued` = 1) an operation. */
export interface ClaimTable {
  nullifier: string;
  holder: string;
  digest: string;
  queued: number;
  expires_at: number;
}

export interface OperationTable {
  id: string;
  kind: OperationKind;
  /** Identifies its content: the digest of the signals, or depositor and authorization nonce of a deposit. */
  digest: string;
  /** Nullifiers, JSON array; empty for a deposit. */
  nullifiers: string;
  /** Arguments of the contract's function, JSON. */
  call: string;
  client: string;
  /** The account whose turn the operation uses: a deposit's depositor, a withdrawal's client; empty for a payment. */
  account: string;
  /** Base units that a deposit transfers from its account, else 0. */
  amount: string;
  /** Quotas that each resend counts for, JSON array. */
  quotas: string;
  /** Number of transactions that contained it. */
  sendings: number;
  /** Deposits and withdrawals are sent by turn; each account has one operation per turn. */
  turn: number;
  /** The last second in which it may be mined. */
  valid_until: number;
  state: OperationState;
  transaction_id: string | null;
  /** The transaction that settled it, of the relayer or of another sender; before that the one last broadcast. */
  tx_hash: string | null;
  block_number: number | null;
  /** The sender of the transaction that settled it; null if it was settled by the relayer before this was always stored. */
  gas_paid_by: string | null;
  reason: string | null;
  /** Consecutive blocks on which its simulation reverted. */
  reverts: number;
  /** The last one of them; null if there is none. */
  revert_block: number | null;
  /** Not sent before this time. */
  retry_at: number;
  created_at: number;
  updated_at: number;
  /** Traceparent of the request that queued it; null if that is not traced. */
  trace: string | null;
}

export interface TransactionTable {
  id: string;
  kind: TransactionKind;
  sender: string;
  nonce: number;
  state: TransactionState;
  to: string;
  data: string;
  gas_limit: string;
  /** Maximum cost in wei; the actual cost once it is mined. */
  cost: string;
  /** Day (UTC, YYYY-MM-DD) whose budget pays for it. */
  day: string;
  block_number: number | null;
  block_hash: string | null;
  /** 1: executed, 0: reverted. */
  status: number | null;
  created_at: number;
  updated_at: number;
}

/** One signed version of a transaction. Replacements share the nonce and pay more. */
export interface AttemptTable {
  hash: string;
  transaction_id: string;
  raw: string;
  max_fee: string;
  max_priority: string;
  /** Fee in wei for the data on the parent chain of a rollup, else 0. */
  data_fee: Generated<string>;
  created_at: number;
  /** When a node last accepted it; null before. */
  sent_at: number | null;
}

/** The newest blocks that were read, used to detect reorganizations. */
export interface BlockTable {
  number: number;
  hash: string;
  timestamp: number;
}

export interface LeafTable {
  leaf_index: number;
  commitment: string;
  block_number: number;
}

/** An append after which the tree has `size` leaves. */
export interface AppendTable {
  size: number;
  root: string;
  block_number: number;
}

export interface SpendTable {
  nullifier: string;
  digest: string;
  tx_hash: string;
  block_number: number;
}

export interface QuotaTable {
  key: string;
  window_start: number;
  used: number;
}

/** Requests that one replica counted from one network. */
export interface RateTable {
  /** When the minute began. */
  window_start: number;
  /** Keyed hash of the network. */
  network: string;
  /** Made anew at each start of a replica. */
  replica: string;
  used: number;
}

export interface GasDayTable {
  day: string;
  wei: string;
}

/** When the leading relayer last completed a round, by the database's clock. */
export interface RoundTable {
  name: string;
  ended_at: number;
}

/** A resource of the discovery catalog. Only its URL and method come from a payment. */
export interface ListingTable {
  url: string;
  method: string;
  /** Host and port of the URL, for the limit of each host. */
  host: string;
  /** JSON as the catalog shows it; "" until the host has confirmed it. */
  item: string;
  /** The recipient's wallet, lower case; "" until then. */
  pay_to: string;
  /** When to ask the host next. */
  due_at: number;
  expires_at: number;
}

export interface Schema {
  reservations: ReservationTable;
  claims: ClaimTable;
  operations: OperationTable;
  transactions: TransactionTable;
  attempts: AttemptTable;
  leases: LeaseTable;
  blocks: BlockTable;
  leaves: LeafTable;
  appends: AppendTable;
  spends: SpendTable;
  quotas: QuotaTable;
  gas_days: GasDayTable;
  rounds: RoundTable;
  listings: ListingTable;
  rates: RateTable;
}

/** The service's own tables. */
export const TABLES = [
  "reservations",
  "claims",
  "operations",
  "transactions",
  "attempts",
  "leases",
  "blocks",
  "leaves",
  "appends",
  "spends",
  "quotas",
  "gas_days",
  "rounds",
  "listings",
  "rates",
] as const satisfies readonly (keyof Schema)[];

/** A connection or a transaction. */
export type Db = Kysely<Schema>;

/**
 * The conditions of partial indexes. They are part of the query text, not parameters: SQLite uses a partial index only if
 * the text contains its condition, and would otherwise read every payment of the past in the thread that serves requests.
 */
export const PARTS = {
  /** Operations that may still succeed. */
  openOperations: sql<boolean>`state in ('queued', 'broadcast')`,
  queuedPayments: sql<boolean>`state = 'queued' and kind = 'payment'`,
  broadcastOperations: sql<boolean>`state = 'broadcast'`,
  /** Deposits and withdrawals: in the queue, sent at least once, and open. */
  queuedOthers: sql<boolean>`state = 'queued' and kind <> 'payment'`,
  sentOthers: sql<boolean>`sendings > 0 and kind <> 'payment'`,
  openOthers: sql<boolean>`state in ('queued', 'broadcast') and kind <> 'payment'`,
  /** Transactions that are not final. */
  openTransactions: sql<boolean>`state in ('sent', 'mined')`,
  liveTransactions: sql<boolean>`state <> 'dropped'`,
  /** Operations and transactions that have ended and still have their calldata. */
  endedOperations: sql<boolean>`state in ('settled', 'failed', 'expired') and call <> 'null'`,
  endedTransactions: sql<boolean>`state in ('final', 'dropped') and data <> ''`,
  /** Claims of reservations. Only these expire. */
  reserved: sql<boolean>`queued = 0`,
} as const;
export type Row<T extends keyof Schema> = Selectable<Schema[T]>;
export type NewRow<T extends keyof Schema> = Insertable<Schema[T]>;
