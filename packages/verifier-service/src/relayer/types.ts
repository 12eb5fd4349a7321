import type { AppendProver } from "@sotto/chain";
import type { Prover } from "@sotto/prover";
import type { SignerErrorCode, TransactionSigner } from "../signer/index.ts";
import type { OperationKind } from "../store/index.ts";

/** The outcome of a payment, deposit or withdrawal, as its client sees it. */
export interface Outcome {
  /** settled: on chain with the configured confirmations. failed: it can no longer succeed. */
  state: "pending" | "settled" | "failed";
  /** The transaction that settled it (the relayer's or another sender's) or was last broadcast; "0x" if there is none. */
  txHash: string;
  /** Its block; 0 unless settled. */
  blockNumber: number;
  /** Why it failed, a stable code: EXPIRED, NULLIFIER_SPENT, REORGANISED, GAS_BUDGET_EXHAUSTED, REVERTED_.. */
  reason?: string | undefined;
}

/** The deployment that the relayer serves. */
export interface PoolDeployment {
  chainId: bigint;
  /** Lower-case addresses. */
  pool: string;
  token: string;
  /** Block after which the pool's events begin. */
  deploymentBlock: number;
}

/** An account that sends the relayer's transactions and pays their gas. */
export interface RelayerAccount {
  readonly signer: TransactionSigner;
  /** Whether it sends nothing new, because it is about to be removed. Default: false. */
  readonly isDraining?: boolean | undefined;
}

/** Maximum accounts: a round asks for the balance and the nonce of each. */
export const MAX_ACCOUNTS = 16;

/** The state of an account, for metrics. */
export interface AccountState {
  /** Lower case. */
  readonly address: string;
  /** active: sends. draining: sends nothing new. former: no longer configured, but some of its transactions are not final. */
  readonly role: "active" | "draining" | "former";
  /** Why its signer does not work. */
  readonly fault: SignerErrorCode | undefined;
  /** Its transactions that are not final. */
  readonly open: number;
  /** Wei; undefined if it was not read. */
  readonly balance: bigint | undefined;
}

/**
 * Maximum payments in one transaction. 64 need about 6 million gas and 41,000 bytes of calldata; nodes accept 128 KiB and,
 * since EIP-7825, 16.7 million gas.
 */
export const MAX_BATCH = 64;

export interface RelayerConfig {
  /** Blocks, including the transaction's own, until a payment is settled. */
  confirmations: number;
  /** Block time, seconds. Nothing is sent less than two blocks before its deadline. */
  blockSeconds: number;
  /** Interval between rounds, ms. */
  pollInterval: number;
  /** Maximum payments in one transaction, at most MAX_BATCH. */
  maxBatch: number;
  /** How long a payment waits for others to share its transaction, ms. */
  batchDelay: number;
  /** Maximum transactions of one account that are sent but not mined, not counting appends. */
  maxInFlight: number;
  /** Maximum gas of one transaction, without gas that pays for data on a parent chain. */
  maxGas: bigint;
  /** Maximum fee per gas, wei; undefined: derived from the chain's fee history. */
  maxFeePerGas: bigint | undefined;
  /** Maximum priority fee per gas, wei; undefined: derived from the chain's fee history. */
  maxPriorityFeePerGas: bigint | undefined;
  /** Wei that the relayer may spend per day (UTC). */
  gasBudgetPerDay: bigint;
  /** Time after which an unmined transaction is replaced by one with higher fees, ms. */
  stuckAfter: number;
  /** Time after which an unmined transaction is sent again, ms. */
  rebroadcastAfter: number;
  /** Whether the relayer appends queued notes to the tree. */
  append: boolean;
  /** Maximum time that the oldest queued note waits to be appended, ms. */
  appendAfter: number;
  /** Maximum blocks per request for events. */
  rangeSize: number;
  /** How far back the use of a deposit's authorization is searched, seconds; at least the longest validity of a deposit. */
  maxAuthorizationAge: number;
  /** How many of the newest blocks are checked for reorganizations. */
  reorgDepth: number;
  /** Time after which another replica replaces a leader that does not renew its lease, ms. */
  leaseTtl: number;
  /** Time after which a leader whose round writes nothing to the store gives up its lease, ms. */
  stalledAfter: number;
}

/** What may change while the relayer runs. */
export type RelayerLimits = Pick<
  RelayerConfig,
  "maxFeePerGas" | "maxPriorityFeePerGas" | "gasBudgetPerDay" | "maxAuthorizationAge" | "stalledAfter"
>;

export const DEFAULT_RELAYER_CONFIG: RelayerConfig = {
  confirmations: 2,
  blockSeconds: 12,
  pollInterval: 1_000,
  maxBatch: MAX_BATCH,
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
  stalledAfter: 120_000,
};

/** For a local chain, which makes a block for each transaction. */
export const LOCAL_RELAYER_CONFIG: RelayerConfig = {
  ...DEFAULT_RELAYER_CONFIG,
  confirmations: 1,
  blockSeconds: 1,
  pollInterval: 250,
  batchDelay: 20,
  appendAfter: 0,
  leaseTtl: 5_000,
  stuckAfter: 10_000,
  rebroadcastAfter: 2_000,
};

/** What the relayer counts and measures; the service exports it to Prometheus. */
export interface RelayerMetrics {
  count(name: RelayerCounter, by?: number, labels?: Readonly<Record<string, string>>): void;
  /** Sets a gauge of the leader. Ignored while this replica does not lead: a round may end after its lease was lost. */
  gauge(name: RelayerGauge, value: number): void;
  /** Shows the accounts; ignored as for `gauge`. */
  accounts(states: readonly AccountState[]): void;
  /** Shows whether this replica leads. If not, its gauges are gone, because another replica has the present values. */
  leads(leads: boolean): void;
  /**
   * Called when an operation is settled.
   * @param seconds since it was queued
   */
  settledAfter(kind: OperationKind, seconds: number): void;
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
  | "relayer_head_block"
  | "relayer_head_timestamp_seconds"
  | "relayer_gas_today_wei"
  | "relayer_queued"
  | "relayer_broadcast"
  | "relayer_queued_notes";

/** Structured logs, fields first as in pino. They never contain proofs, keys or tokens. */
export interface RelayerLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Proves appends, with the keys of the named artifact set. */
export interface RelayerProver extends AppendProver {
  /** The set of keys that it proves with. Development keys are refused except on a local chain. */
  artifacts: Pick<Prover["artifacts"], "set">;
}

export interface RelayerStatus {
  /** Whether this replica leads and sends. */
  leader: boolean;
  accounts: readonly AccountState[];
  /** The newest block that was read; undefined before the first round or if this replica never led. */
  head: { number: number; timestamp: number } | undefined;
  /** Wei, including the maximum cost of transactions that are not mined. */
  gasToday: bigint;
  gasBudgetPerDay: bigint;
  queued: number;
  broadcast: number;
  /** When the last round was completed, ms; undefined before the first. */
  lastRound: number | undefined;
  /** The error code of the last round, if it failed. */
  error: string | undefined;
}
