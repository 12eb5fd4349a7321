import type { Head } from "@sotto/chain";
import { holderName } from "@sotto/database";
import { codeOf } from "@sotto/server";
import type { SignerErrorCode } from "../signer/index.ts";
import { DatabaseError, isUnavailable, type Lease, type Operation, type QueuePosition } from "../store/index.ts";
import type { Account } from "./account.ts";
import type { Appender } from "./appender.ts";
import type { RelayerContext, Round } from "./context.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Follower } from "./follower.ts";
import { assertConfig } from "./options.ts";
import type { OutcomeResolver } from "./outcome-resolver.ts";
import { OutcomeWaiters } from "./outcome-waiters.ts";
import { STALLED } from "./progress.ts";
import type { Tracker } from "./tracker.ts";
import type { Outcome, RelayerLimits, RelayerStatus } from "./types.ts";
import { WakeSignal } from "./wake-signal.ts";

/** Sends the queued operations, and appends the new notes. */
export interface Relayer {
  /** Starts the rounds. Of several replicas with one database, one leads and sends; the others wait. */
  start(): void;
  /** Completes the current round and releases the lease. Broadcast transactions stay in the store. */
  stop(): Promise<void>;
  /** Starts a round at once, because an operation was queued. */
  wake(): void;
  /**
   * Waits for an operation's outcome, at most `ms` and not after `signal` aborts. The outcome is `pending` if it is not known
   * by then, or if the relayer stops.
   * @throws RelayerError UNKNOWN_OPERATION
   */
  waitFor(id: string, ms: number, signal?: AbortSignal): Promise<Outcome>;
  /** The accounts that send, and why the signer of each does not work; undefined if it works. */
  checkSigners(): Promise<ReadonlyMap<string, SignerErrorCode | undefined>>;
  /**
   * Checks new limits.
   * @returns a function that applies them from the next transaction on
   * @throws RelayerError INVALID_RELAYER_OPTION
   */
  prepare(limits: RelayerLimits): () => void;
  /** What the relayer is doing, for readiness checks and metrics. */
  status(): Promise<RelayerStatus>;
}

const LEASE = "relayer";
/** Payments handled per round; the rest can wait, because deadlines are minutes away. */
const MAX_PAYMENTS = 5_000;
/** Queued deposits and withdrawals that a round checks; the next round checks the next ones. */
const OTHERS_PER_ROUND = 128;
const BALANCE_EVERY_MS = 30_000;
/** How often the end of a round is recorded in the store, ms: each write waits for the disk. */
const RECORD_ROUND_MS = 2_000;

export interface Parts {
  follower: Follower;
  resolver: OutcomeResolver;
  tracker: Tracker;
  dispatcher: Dispatcher;
  appender: Appender | undefined;
}

/** Runs the rounds of one replica. */
export class RelayerLoop implements Relayer {
  readonly #context: RelayerContext;
  readonly #parts: Parts;
  readonly #holder = holderName();
  readonly #wakeSignal = new WakeSignal();
  readonly #waiters: OutcomeWaiters;
  #running: Promise<void> | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #stopping = false;
  #lease: Lease | undefined;
  /** The queued deposit or withdrawal that was checked last. */
  #lookedAt: QueuePosition | undefined;
  #head: Head | undefined;
  #balanceAt = 0;
  #lastRound: number | undefined;
  #roundRecordedAt = 0;
  #error: string | undefined;
  /** When the lease was last acquired or renewed, ms of the monotonic clock. */
  #renewedAt = 0;

  constructor(context: RelayerContext, parts: Parts) {
    this.#context = context;
    this.#parts = parts;
    const works = () => this.#lease !== undefined;
    const { store, monotonic } = context;
    this.#waiters = new OutcomeWaiters({ store, works, stopping: () => this.#stopping, monotonic });
  }

  start(): void {
    if (this.#running) return;
    this.#running = this.#run();
    // A round may take longer than the lease (the first start reads the whole chain), so a timer renews the lease.
    this.#heartbeat = setInterval(() => void this.#renew(), this.#context.config.leaseTtl / 3);
    this.#heartbeat.unref();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#heartbeat);
    this.#wakeSignal.wake();
    await this.#running;
    await this.#parts.appender?.drain();
    if (this.#lease) await this.#context.store.leases.release(this.#lease).catch(() => undefined);
    this.#lease = undefined;
    this.#showLeads(false);
    this.#waiters.notify();
  }

  wake(): void {
    this.#wakeSignal.wake();
  }

  waitFor(id: string, ms: number, signal?: AbortSignal): Promise<Outcome> {
    return this.#waiters.waitFor(id, ms, signal);
  }

  async checkSigners(): Promise<Map<string, SignerErrorCode | undefined>> {
    const active = this.#context.accounts.all.filter(({ isDraining }) => !isDraining);
    const check = async (account: Account) => [account.address, await account.check()] as const;
    return new Map(await Promise.all(active.map(check)));
  }

  prepare(limits: RelayerLimits): () => void {
    const { config, market } = this.#context;
    assertConfig({ ...config, ...limits });
    return () => {
      Object.assign(config, limits);
      market.configure(limits);
    };
  }

  async status(): Promise<RelayerStatus> {
    const { store, config, accounts } = this.#context;
    const head = this.#head && { number: this.#head.number, timestamp: this.#head.timestamp };
    return {
      leader: this.#lease !== undefined,
      accounts: accounts.states(await store.outbox.summaries()),
      head,
      gasToday: await store.gasToday(),
      gasBudgetPerDay: config.gasBudgetPerDay,
      ...(await store.operations.counts()),
      lastRound: this.#lastRound,
      error: this.#error,
    };
  }

  async #run(): Promise<void> {
    const { config, progress } = this.#context;
    while (!this.#stopping) {
      const busy = await progress.of(() => this.#round()).catch((error: unknown) => this.#failed(error));
      // After a transaction was sent, the chain may change at once. Otherwise the next block is soon enough.
      if (!this.#stopping)
        await this.#wakeSignal.sleep(busy ? Math.min(config.pollInterval, config.batchDelay) : config.pollInterval);
    }
  }

  async #renew(): Promise<void> {
    const { config, progress } = this.#context;
    if (this.#lease === undefined) return;
    if (progress.silence > config.stalledAfter) return this.#giveUp(this.#lease, progress.silence);
    // A replica that lost the lease notices it at its next write.
    await this.#acquire().catch(() => undefined);
  }

  /**
   * Releases the lease while a round hangs, so that another replica can lead. Once one leads, the round cannot write if it resumes,
   * and what it signs is not sent: a transaction is sent only after it is stored.
   */
  async #giveUp(lease: Lease, ms: number): Promise<void> {
    const { store, log, metrics } = this.#context;
    this.#lease = undefined;
    this.#error = STALLED;
    this.#showLeads(false);
    metrics.count("relayer_errors_total", 1, { code: STALLED });
    log.error(
      { code: STALLED, ms: Math.round(ms) },
      "a round of the relayer hangs; the lease is released until the round ends",
    );
    // If the database does not respond, the lease expires.
    await store.leases.release(lease).catch(() => undefined);
  }

  /** Acquires or renews the lease, and shows in the metrics whether this replica leads, even if a round hangs meanwhile. */
  async #acquire(): Promise<Lease | undefined> {
    const { store, config, monotonic } = this.#context;
    const startedAt = monotonic();
    try {
      const lease = await store.leases.acquire(LEASE, this.#holder, config.leaseTtl);
      if (lease !== undefined) this.#renewedAt = startedAt;
      if (!this.#stopping) this.#showLeads(lease !== undefined);
      return lease;
    } catch (error) {
      // Without the database nobody knows who leads, but once the lease has expired, it may be another replica.
      if (monotonic() - this.#renewedAt > config.leaseTtl) this.#showLeads(false);
      throw error;
    }
  }

  #showLeads(leads: boolean): void {
    this.#context.metrics.leads(leads);
    // A successor may have changed them, so they are measured anew.
    if (!leads) this.#balanceAt = 0;
  }

  async #failed(error: unknown): Promise<false> {
    const { log, metrics, accounts } = this.#context;
    if (error instanceof DatabaseError && error.code === "LEASE_LOST") {
      this.#lease = undefined;
      this.#showLeads(false);
    }
    this.#error = isUnavailable(error) ? "STORE_UNAVAILABLE" : codeOf(error);
    metrics.count("relayer_errors_total", 1, { code: this.#error });
    log.error({ code: this.#error, err: error }, "a round of the relayer failed; the next one tries again");
    // The account that calls are simulated from has no ETH. Balances are otherwise read at the end of a round, which no round reaches.
    if (this.#error === "SENDER_UNFUNDED") await accounts.readBalances().catch(() => undefined);
    return false;
  }

  /** @returns whether something was sent */
  async #round(): Promise<boolean> {
    const { store, metrics } = this.#context;
    const lease = await this.#acquire();
    this.#lease = lease;
    if (lease === undefined) return false;
    const { follower, resolver, tracker, dispatcher, appender } = this.#parts;
    const { head, rolledBackTo } = await follower.catchUp(lease);
    if (rolledBackTo !== undefined) {
      metrics.count("relayer_reorganisations_total");
      this.#context.log.warn({ to: rolledBackTo, head: head.number }, "the chain was reorganized");
      await appender?.reorganized();
    }
    this.#head = head;
    const round = await this.#begin(lease, head);
    const { operations } = store;
    // Payments first: there may be any number of deposits and withdrawals.
    const spent = await resolver.resolve(round, [
      ...(await operations.queuedPayments(MAX_PAYMENTS)),
      ...(await operations.broadcast()),
    ]);
    this.#waiters.notify();
    await tracker.track(round, await operations.broadcast());
    const sent = await dispatcher.dispatchPayments(round, await operations.queuedPayments(MAX_PAYMENTS), spent);
    await resolver.resolve(round, await this.#nextOthers());
    this.#waiters.notify();
    const sentOthers = await dispatcher.dispatchOthers(round);
    const appending = (await appender?.append(round, () => this.#wakeSignal.wake())) ?? false;
    await this.#measure();
    this.#error = undefined;
    this.#lastRound = this.#context.clock();
    await this.#recordRound(lease);
    return sent || sentOthers || appending;
  }

  /** The next queued deposits and withdrawals, oldest first; after the last ones it starts again. */
  async #nextOthers(): Promise<Operation[]> {
    const { operations } = this.#context.store;
    const others = await operations.queuedOthers(this.#lookedAt, OTHERS_PER_ROUND);
    this.#lookedAt = others.length < OTHERS_PER_ROUND ? undefined : others.at(-1);
    return others;
  }

  /** Records the round, so that other replicas and health checks see that the leading relayer works. */
  async #recordRound(lease: Lease): Promise<void> {
    const { store, clock } = this.#context;
    if (clock() - this.#roundRecordedAt < RECORD_ROUND_MS) return;
    await store.asRelayer(lease, ({ rounds }) => rounds.ended());
    this.#roundRecordedAt = clock();
  }

  async #begin(lease: Lease, head: Head): Promise<Round> {
    const { config, chain } = this.#context;
    const confirmedNumber = head.number - config.confirmations + 1;
    const confirmed = confirmedNumber === head.number ? head : await chain.block(Math.max(0, confirmedNumber));
    return { lease, head, confirmedNumber, confirmedTimestamp: confirmed?.timestamp ?? 0 };
  }

  async #measure(): Promise<void> {
    const { accounts, metrics, clock, store } = this.#context;
    metrics.gauge("relayer_head_block", this.#head?.number ?? 0);
    metrics.gauge("relayer_head_timestamp_seconds", this.#head?.timestamp ?? 0);
    const { queued, broadcast } = await store.operations.counts();
    metrics.gauge("relayer_queued", queued);
    metrics.gauge("relayer_broadcast", broadcast);
    const isDue = clock() - this.#balanceAt >= BALANCE_EVERY_MS;
    if (isDue) {
      this.#balanceAt = clock();
      await accounts.readBalances();
      metrics.gauge("relayer_gas_today_wei", Number(await store.gasToday()));
    }
    metrics.accounts(accounts.states(await store.outbox.summaries()));
  }
}
