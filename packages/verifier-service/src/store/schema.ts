// The tables. Times are milliseconds since the Unix epoch, amounts and field elements decimal text, hashes hex with 0x.
import { type Generated, type Insertable, type Kysely, type Selectable, sql } from "kysely";

export type OperationKind = "payment" | "deposit" | "withdrawal";

/**
 * queued: to be sent. broadcast: a transaction with it is stored, perhaps sent, perhaps mined without its confirmations.
 * settled: on chain with the configured confirmations. failed, expired: nothing of it can land any more.
 */
export type OperationState = "queued" | "broadcast" | "settled" | "failed" | "expired";

/** sent: stored, perhaps sent. mined: in a block. final: with its confirmations. dropped: its nonce went elsewhere. */
export type TransactionState = "sent" | "mined" | "final" | "dropped";
export type TransactionKind = "settle" | "deposit" | "withdraw" | "append" | "cancel";

export interface ReservationTable {
  id: string;
  nullifier: string;
  /** keccak256 of the ten public signals. */
  digest: string;
  /** The bundle that was verified, JSON. */
  bundle: string;
  recipient: string;
  client: string;
  /** When its token expires. */
  expires_at: number;
  /** Seconds: the last one in which the payment may settle, as the contract takes it. */
  valid_until: number;
  created_at: number;
}

/** Who holds a nullifier: a reservation until `expires_at`, or (`queued` 1) an operation for good. */
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
  /** What tells it from others: digest of the signals, for a deposit depositor and authorization nonce. */
  digest: string;
  /** Nullifiers, JSON array; empty for a deposit. */
  nullifiers: string;
  /** Arguments of the contract's function, JSON. */
  call: string;
  client: string;
  /** Whose turn it is served in: a deposit's depositor, a withdrawal's client; empty for a payment. */
  account: string;
  /** Base units a deposit takes from its account, else 0. */
  amount: string;
  /** Quotas that each further sending counts for, JSON array. */
  quotas: string;
  /** Transactions it has been put in so far. */
  sendings: number;
  /** Deposits and withdrawals are served by turn; each account has one operation in a turn. */
  turn: number;
  /** Seconds: the last one in which it may be mined. */
  valid_until: number;
  state: OperationState;
  /** The transaction it is in. */
  transaction_id: string | null;
  /** The transaction that settled it, ours or another's; before that the one last broadcast. */
  tx_hash: string | null;
  block_number: number | null;
  /** Who paid the gas of what settled it, where that was not the relayer's own transaction. */
  gas_paid_by: string | null;
  reason: string | null;
  /** Simulations that reverted in a row. */
  reverts: number;
  /** Not looked at before. */
  retry_at: number;
  created_at: number;
  updated_at: number;
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
  /** Wei this transaction may still cost or has cost. */
  cost: string;
  /** Day (UTC, YYYY-MM-DD) its cost counts for. */
  day: string;
  block_number: number | null;
  block_hash: string | null;
  /** 1 executed, 0 reverted. */
  status: number | null;
  created_at: number;
  updated_at: number;
}

/** One signed form of a transaction: replacements share the nonce and pay more. */
export interface AttemptTable {
  hash: string;
  transaction_id: string;
  raw: string;
  max_fee: string;
  max_priority: string;
  /** Wei for the data of the transaction on the chain below, where the chain has one. */
  data_fee: Generated<string>;
  created_at: number;
  /** When a node last took it, null before. */
  sent_at: number | null;
}

export interface LeaseTable {
  name: string;
  holder: string;
  /** Grows with each new holder: what an older one writes is refused. */
  token: number;
  expires_at: number;
}

/** The newest blocks that were read, so that a reorganisation is noticed. */
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

/** After it the tree has `size` leaves. */
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

export interface GasDayTable {
  day: string;
  wei: string;
}

/** The last round of the relayer in charge that ended well, by the database's clock. */
export interface RoundTable {
  name: string;
  ended_at: number;
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
}

/** A connection or a transaction. */
export type Db = Kysely<Schema>;

/**
 * The rows that partial indexes are of. In the text of the query and not among its values: SQLite takes such an index only
 * where it sees that these rows are meant, and would else read all payments that ever were, in the thread that serves.
 */
export const PARTS = {
  /** Operations that are not over. */
  openOperations: sql<boolean>`state in ('queued', 'broadcast')`,
  queuedPayments: sql<boolean>`state = 'queued' and kind = 'payment'`,
  broadcastOperations: sql<boolean>`state = 'broadcast'`,
  /** Deposits and withdrawals: those that wait to be sent, that were sent at least once, that are not over. */
  queuedOthers: sql<boolean>`state = 'queued' and kind <> 'payment'`,
  sentOthers: sql<boolean>`sendings > 0 and kind <> 'payment'`,
  openOthers: sql<boolean>`state in ('queued', 'broadcast') and kind <> 'payment'`,
  /** Transactions that are not final. */
  openTransactions: sql<boolean>`state in ('sent', 'mined')`,
  liveTransactions: sql<boolean>`state <> 'dropped'`,
  /** Operations and transactions that are over, while what they sent is still kept. */
  endedOperations: sql<boolean>`state in ('settled', 'failed', 'expired') and call <> 'null'`,
  endedTransactions: sql<boolean>`state in ('final', 'dropped') and data <> ''`,
  /** Claims of reservations: those of operations are for good. */
  reserved: sql<boolean>`queued = 0`,
} as const;
export type Row<T extends keyof Schema> = Selectable<Schema[T]>;
export type NewRow<T extends keyof Schema> = Insertable<Schema[T]>;
