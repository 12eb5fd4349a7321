import { type Lease, leasesIn } from "@sotto/database";
import { type DatabaseOptions, open } from "./database.ts";
import { dayOf, gasSpent } from "./gas.ts";
import { ledgerReads, ledgerWrites } from "./ledger.ts";
import { listingRepository } from "./listings.ts";
import { operationWrites } from "./operation-writes.ts";
import { operationRepository } from "./operations.ts";
import { outboxReads, outboxWrites } from "./outbox.ts";
import { quotaRepository } from "./quotas.ts";
import { sharedCounts, sweepRates } from "./rates.ts";
import { reservationRepository } from "./reservations.ts";
import { retireTexts } from "./retire.ts";
import { commitments, lastRound, roundWrites } from "./rounds.ts";

export { DatabaseError, isUnavailable, type Lease } from "@sotto/database";
export type { DatabaseOptions } from "./database.ts";
export { StoreError } from "./errors.ts";
export { dayOf } from "./gas.ts";
export type { LedgerPage } from "./ledger.ts";
export type { DueListing, ListingKey } from "./listings.ts";
export type { OpenOperations, QueuePosition } from "./open-operations.ts";
export type {
  EnqueueDepositResult,
  EnqueuePaymentResult,
  EnqueueResult,
  NewDeposit,
  NewOperation,
  Operation,
} from "./operations.ts";
export type { Attempt, NewAttempt, NewTransaction, OutboxTransaction, TransactionSummary } from "./outbox.ts";
export type { QuotaResult } from "./quotas.ts";
export type { NewReservation, Reservation, ReserveResult } from "./reservations.ts";
export type { Commitments } from "./rounds.ts";
export type { OperationKind, OperationState, Row, TransactionKind, TransactionState } from "./schema.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export interface StoreOptions extends DatabaseOptions {
  /** Now in ms; for tests. */
  clock?: (() => number) | undefined;
}

/**
 * Opens the database and applies missing migrations.
 * @throws DatabaseError INVALID_STORE_URL, STORE_UNAVAILABLE, STORE_TOO_NEW
 */
export async function openStore({ clock = Date.now, ...options }: StoreOptions) {
  const database = await open(options);
  const { db } = database;
  const leases = leasesIn(database, "leases");
  return {
    /** The database itself, for extensions. */
    database,
    reservations: reservationRepository(database, clock),
    operations: operationRepository(database, clock),
    quotas: quotaRepository(database, clock),
    leases,
    /** The counts of requests that replicas share; undefined on SQLite, which has one replica. */
    rates: (secret: string) => (database.kind === "sqlite" ? undefined : sharedCounts(database, secret)),
    listings: listingRepository(database),
    outbox: outboxReads(db),
    ledger: ledgerReads(db),
    /** Ms since the leading relayer last completed a round, by the database's clock; undefined before the first round. */
    sinceLastRound: () => lastRound(database),
    /** Payments that the relayer still has to send, and the cost of what it has sent. */
    commitments: () => commitments(db, clock),
    /** Wei that the relayer spent today (UTC), with the maximum cost of transactions that are not mined. */
    gasToday: () => gasSpent(db, dayOf(clock())),

    /** Writes that only the leading relayer may make, all in one transaction. @throws DatabaseError LEASE_LOST */
    asRelayer<T>(lease: Lease, action: (writes: RelayerWrites) => Promise<T>): Promise<T> {
      return leases.fenced(lease, (transaction) =>
        action({
          outbox: outboxWrites(transaction, clock),
          operations: operationWrites(transaction, clock),
          ledger: ledgerWrites(transaction),
          rounds: roundWrites(database, transaction),
        }),
      );
    },

    /** @throws DatabaseError STORE_UNAVAILABLE */
    ping: () => database.ping(),

    /** Deletes expired and old data. */
    async sweep(): Promise<void> {
      // The clock of another replica may be behind, so recently expired rows are kept for a minute.
      await this.reservations.sweep(clock() - MINUTE_MS);
      await this.reservations.retire(clock() - 30 * DAY_MS);
      await retireTexts(database, clock() - 30 * DAY_MS);
      await this.quotas.sweep(clock() - 2 * DAY_MS);
      await this.listings.sweep(clock());
      await sweepRates(database, clock() - 2 * MINUTE_MS);
    },

    close: () => database.close(),
  };
}

/** The service's database, by table. */
export type Store = Awaited<ReturnType<typeof openStore>>;

export interface RelayerWrites {
  outbox: ReturnType<typeof outboxWrites>;
  operations: ReturnType<typeof operationWrites>;
  ledger: ReturnType<typeof ledgerWrites>;
  rounds: ReturnType<typeof roundWrites>;
}
