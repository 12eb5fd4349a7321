import type { Prover } from "@sotto/prover";
import type { TransactionRequest } from "ethers";

/** Where a payment, deposit or withdrawal stands, as its owner is told. */
export interface Outcome {
  /** settled: on chain with the configured confirmations. failed: nothing of it can land any more. */
  state: "pending" | "settled" | "failed";
  /** The transaction that settled it (ours or another's) or was last broadcast; "0x" where there is none. */
  txHash: string;
  /** Its block; 0 unless settled. */
  blockNumber: number;
  /** Why it failed, a stable code: EXPIRED, NULLIFIER_SPENT, REORGANISED, GAS_BUDGET_EXHAUSTED, REVERTED_.. */
  reason?: string | undefined;
}

/** The pool that is served. */
export interface PoolDeployment {
  chainId: bigint;
  /** Lower-case addresses. */
  pool: string;
  token: string;
  /** Block after which the pool's events begin. */
  deploymentBlock: number;
}

/** Signs with the relayer's key; a Wallet of ethers is one. */
export interface RelayerSigner {
  readonly address: string;
  signTransaction(transaction: TransactionRequest): Promise<string>;
}

export interface RelayerConfig {
  /** Blocks, the transaction's own included, before a payment counts as settled. */
  confirmations: number;
  /** Time between blocks, seconds: nothing is sent that could miss its date by two of them. */
  blockSeconds: number;
  /** How often the chain is looked at, ms. */
  pollInterval: number;
  /** Payments in one transaction, at most. */
  maxBatch: number;
  /** How long a payment waits for others to share its transaction, ms. */
  batchDelay: number;
  /** Transactions under way at once, at most. */
  maxInFlight: number;
  /** Gas of one transaction, at most. */
  maxGas: bigint;
  /** Wei a unit of gas may cost, at most; undefined: derived from the chain's fee history. */
  maxFeePerGas: bigint | undefined;
  /** Wei of it for the block's builder, at most; undefined: derived likewise. */
  maxPriorityFeePerGas: bigint | undefined;
  /** Wei the relayer may spend on a day (UTC). */
  gasBudgetPerDay: bigint;
  /** A transaction not mined after this is replaced by a dearer one, ms. */
  stuckAfter: number;
  /** A transaction not mined is sent again after this, ms. */
  rebroadcastAfter: number;
  /** Whether queued notes are moved into the tree. */
  append: boolean;
  /** The oldest queued note waits at most this long, ms; 0: not at all. */
  appendAfter: number;
  /** Most blocks asked for at once when events are read. */
  rangeSize: number;
  /** How far back the use of a deposit's authorization is looked for, seconds: as long as a deposit may be valid. */
  maxAuthorizationAge: number;
  /** How many of the newest blocks are watched for reorganisations. */
  reorgDepth: number;
  /** How long a replica that went silent keeps its place, ms. */
  leaseTtl: number;
}

export const DEFAULT_RELAYER_CONFIG: RelayerConfig = {
  confirmations: 2,
  blockSeconds: 12,
  pollInterval: 1_000,
  maxBatch: 32,
  batchDelay: 100,
  maxInFlight: 4,
  maxGas: 12_000_000n,
  maxFeePerGas: undefined,
  maxPriorityFeePerGas: undefined,
  gasBudgetPerDay: 1_000_000_000_000_000_000n,
  stuckAfter: 45_000,
  rebroadcastAfter: 15_000,
  append: true,
  appendAfter: 30_000,
  rangeSize: 2_000,
  maxAuthorizationAge: 90_000,
  reorgDepth: 128,
  leaseTtl: 15_000,
};

/** What changes on a chain of this machine, whose blocks come when a transaction does. */
export const LOCAL_RELAYER_CONFIG: RelayerConfig = {
  ...DEFAULT_RELAYER_CONFIG,
  confirmations: 1,
  blockSeconds: 1,
  pollInterval: 100,
  batchDelay: 20,
  appendAfter: 0,
  leaseTtl: 5_000,
  stuckAfter: 10_000,
  rebroadcastAfter: 2_000,
};

/** Counters and gauges by name; the service gives them to Prometheus. */
export interface RelayerMetrics {
  count(name: RelayerCounter, by?: number, labels?: Readonly<Record<string, string>>): void;
  gauge(name: RelayerGauge, value: number): void;
}

export type RelayerCounter =
  | "relayer_settled_total"
  | "relayer_failed_total"
  | "relayer_transactions_total"
  | "relayer_replacements_total"
  | "relayer_reorganisations_total"
  | "relayer_front_run_total"
  | "relayer_gas_wei_total"
  | "relayer_errors_total";

export type RelayerGauge =
  | "relayer_leader"
  | "relayer_head_block"
  | "relayer_balance_wei"
  | "relayer_gas_today_wei"
  | "relayer_queued"
  | "relayer_broadcast"
  | "relayer_queued_notes";

/** Structured: values first, as pino takes them. Never proofs, keys or tokens. */
export interface RelayerLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What proves appends: one of @sotto/prover's. */
export type AppendProver = Pick<Prover, "prove"> & { artifacts: Pick<Prover["artifacts"], "set"> };

export interface RelayerStatus {
  /** Whether this replica is the one that sends. */
  leader: boolean;
  address: string;
  /** Newest block that was read; undefined before the first one, or on a replica that stands by. */
  head: { number: number; timestamp: number } | undefined;
  /** Wei. */
  balance: bigint | undefined;
  /** Wei, with the most that what is under way may cost. */
  gasToday: bigint;
  gasBudgetPerDay: bigint;
  queued: number;
  broadcast: number;
  /** When the last round ended well, ms; undefined before. */
  lastRound: number | undefined;
  /** Code of what the last round failed with. */
  error: string | undefined;
}
