import type { Head } from "@sotto/chain";
import { isUnavailable, type Lease, type Operation, type QueuePosition, StoreError } from "../store/index.ts";
import type { Appender } from "./appender.ts";
import type { RelayerContext, Round } from "./context.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { codeOf } from "./errors.ts";
import type { Follower } from "./follower.ts";
import { holderName, isGone } from "./holder.ts";
import type { OutcomeResolver } from "./outcome-resolver.ts";
import { OutcomeWaiters } from "./outcome-waiters.ts";
import type { Tracker } from "./tracker.ts";
import type { Outcome, RelayerStatus } from "./types.ts";
import { WakeSignal } from "./wake-signal.ts";

export interface Relayer {
  /** Begins to work. One of several replicas on one database sends; the others stand by. */
  start(): void;
  /** Ends the round that is under way and gives the place to another replica. What is broadcast stays in the store. */
  stop(): Promise<void>;
  /** Says that an operation was queued: it need not wait for the next look at the chain. */
  settle(id: string): void;
  /**
   * Waits for an operation's outcome: at most `ms`, and no longer than the signal permits. It is pending if it is not
   * known by then, or once the relayer stops.
   * @throws RelayerError UNKNOWN_OPERATION
   */
  waitFor(id: string, ms: number, signal?: AbortSignal): Promise<Outcome>;
  status(): Promise<RelayerStatus>;
}

const LEASE = "relayer";
/** Payments looked at in one round: their dates are minutes away. */
const MAX_PAYMENTS = 5_000;
/** Queued deposits and withdrawals looked at in one round; the next round looks at the next ones. */
const OTHERS_PER_ROUND = 128;
const BALANCE_EVERY_MS = 30_000;
/** How often the end of a round is written into the store, ms: each write waits for the disk. */
const TELL_ROUND_MS = 2_000;

export interface Parts {
  follower: Follower;
  resolver: OutcomeResolver;
  tracker: Tracker;
  dispatcher: Dispatcher;
  appender: Appender | undefined;
}

/** The rounds of one replica. */
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
  /** The queued deposit or withdrawal that was looked at last. */
  #lookedAt: QueuePosition | undefined;
  #head: Head | undefined;
  #balance: bigint | undefined;
  #balanceAt = 0;
  #lastRound: number | undefined;
  #toldRoundAt = 0;
  #error: string | undefined;

  constructor(context: RelayerContext, parts: Parts) {
    this.#context = context;
    this.#parts = parts;
    const works = () => this.#lease !== undefined;
    const { store, clock } = context;
    this.#waiters = new OutcomeWaiters({ store, clock, works, stopping: () => this.#stopping });
  }

  start(): void {
    if (this.#running) return;
    this.#running = this.#run();
    // A round may take longer than the lease (a first start reads the whole chain): it is kept alive beside it.
    this.#heartbeat = setInterval(() => void this.#renew(), this.#context.config.leaseTtl / 3);
    this.#heartbeat.unref();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#heartbeat);
    this.#wakeSignal.wake();
    await this.#running;
    await this.#parts.appender?.settle();
    if (this.#lease) await this.#context.store.leases.release(this.#lease).catch(() => undefined);
    this.#lease = undefined;
    this.#waiters.tell();
  }

  settle(_id: string): void {
    this.#wakeSignal.wake();
  }

  waitFor(id: string, ms: number, signal?: AbortSignal): Promise<Outcome> {
    return this.#waiters.waitFor(id, ms, signal);
  }

  async status(): Promise<RelayerStatus> {
    const { store, config, address } = this.#context;
    const head = this.#head && { number: this.#head.number, timestamp: this.#head.timestamp };
    return {
      leader: this.#lease !== undefined,
      address,
      head,
      balance: this.#balance,
      gasToday: await store.gasToday(),
      gasBudgetPerDay: config.gasBudgetPerDay,
      ...(await store.operations.counts()),
      lastRound: this.#lastRound,
      error: this.#error,
    };
  }

  async #run(): Promise<void> {
    const { config } = this.#context;
    while (!this.#stopping) {
      const busy = await this.#round().catch((error: unknown) => this.#failed(error));
      // After something was sent the chain may change at once; what else there is can wait for the next block.
      if (!this.#stopping)
        await this.#wakeSignal.sleep(busy ? Math.min(config.pollInterval, config.batchDelay) : config.pollInterval);
    }
  }

  async #renew(): Promise<void> {
    const { store, config } = this.#context;
    // Whoever lost it learns so from the next thing it writes.
    if (this.#lease) await store.leases.acquire(LEASE, this.#holder, config.leaseTtl).catch(() => undefined);
  }

  #failed(error: unknown): false {
    const { log, metrics } = this.#context;
    if (error instanceof StoreError && error.code === "LEASE_LOST") this.#lease = undefined;
    this.#error = isUnavailable(error) ? "STORE_UNAVAILABLE" : codeOf(error);
    metrics.count("relayer_errors_total", 1, { code: this.#error });
    log.error({ code: this.#error, err: error }, "a round of the relayer failed; the next one tries again");
    return false;
  }

  /** @returns whether something was sent */
  async #round(): Promise<boolean> {
    const { store, config, metrics } = this.#context;
    const gone = store.kind === "sqlite" ? isGone : undefined;
    this.#lease = await store.leases.acquire(LEASE, this.#holder, config.leaseTtl, gone);
    metrics.gauge("relayer_leader", this.#lease ? 1 : 0);
    if (this.#lease === undefined) return false;
    const { follower, resolver, tracker, dispatcher, appender } = this.#parts;
    const { head, reorganisedTo } = await follower.catchUp(this.#lease);
    if (reorganisedTo !== undefined) {
      metrics.count("relayer_reorganisations_total");
      this.#context.log.warn({ to: reorganisedTo, head: head.number }, "the chain was reorganised");
      await appender?.reorganised();
    }
    this.#head = head;
    const round = await this.#begin(this.#lease, head);
    const { operations } = store;
    // First all that payments wait for: deposits and withdrawals, of which there may be any number, come after them.
    const spent = await resolver.resolve(round, [
      ...(await operations.queuedPayments(MAX_PAYMENTS)),
      ...(await operations.broadcast()),
    ]);
    this.#waiters.tell();
    await tracker.track(round, await operations.broadcast());
    const sent = await dispatcher.dispatchPayments(round, await operations.queuedPayments(MAX_PAYMENTS), spent);
    await resolver.resolve(round, await this.#nextOthers());
    this.#waiters.tell();
    const sentOthers = await dispatcher.dispatchOthers(round);
    const appending = (await appender?.append(round, () => this.#wakeSignal.wake())) ?? false;
    await this.#measure();
    this.#error = undefined;
    this.#lastRound = this.#context.clock();
    await this.#tellRound(this.#lease);
    return sent || sentOthers || appending;
  }

  /** The next queued deposits and withdrawals in the order they came; after the last ones, the first ones again. */
  async #nextOthers(): Promise<Operation[]> {
    const { operations } = this.#context.store;
    const others = await operations.queuedOthers(this.#lookedAt, OTHERS_PER_ROUND);
    this.#lookedAt = others.length < OTHERS_PER_ROUND ? undefined : others.at(-1);
    return others;
  }

  /** Replicas and watchers know by it that the relayer in charge is not stuck. */
  async #tellRound(lease: Lease): Promise<void> {
    const { store, clock } = this.#context;
    if (clock() - this.#toldRoundAt < TELL_ROUND_MS) return;
    await store.asRelayer(lease, ({ rounds }) => rounds.ended());
    this.#toldRoundAt = clock();
  }

  async #begin(lease: Lease, head: Head): Promise<Round> {
    const { config, chain } = this.#context;
    const confirmedNumber = head.number - config.confirmations + 1;
    const confirmed = confirmedNumber === head.number ? head : await chain.block(Math.max(0, confirmedNumber));
    return { lease, head, confirmedNumber, confirmedTimestamp: confirmed?.timestamp ?? 0 };
  }

  async #measure(): Promise<void> {
    const { chain, address, metrics, clock, store } = this.#context;
    metrics.gauge("relayer_head_block", this.#head?.number ?? 0);
    const { queued, broadcast } = await store.operations.counts();
    metrics.gauge("relayer_queued", queued);
    metrics.gauge("relayer_broadcast", broadcast);
    if (clock() - this.#balanceAt < BALANCE_EVERY_MS) return;
    this.#balanceAt = clock();
    this.#balance = await chain.balance(address);
    metrics.gauge("relayer_balance_wei", Number(this.#balance));
    metrics.gauge("relayer_gas_today_wei", Number(await store.gasToday()));
  }
}
