import { randomUUID } from "node:crypto";
import { parseAddress } from "@sotto/protocol";
import { assertAllowedOnChain } from "@sotto/prover";
import { isUnavailable, type Lease, type Operation, type Store, StoreError } from "../store/index.ts";
import { Appender } from "./appender.ts";
import type { ChainReader } from "./chain/reader.ts";
import type { Head } from "./chain/values.ts";
import type { RelayerContext, Round } from "./context.ts";
import { Dispatcher } from "./dispatcher.ts";
import { codeOf, RelayerError } from "./errors.ts";
import { Follower } from "./follower.ts";
import { Judge } from "./judge.ts";
import { checkConfig } from "./options.ts";
import { Sender } from "./sender.ts";
import { Tracker } from "./tracker.ts";
import type { AppendProver, Outcome, PoolPlace, RelayerConfig, RelayerSigner, RelayerStatus } from "./types.ts";
import { Waker } from "./waker.ts";

export interface RelayerOptions extends Pick<RelayerContext, "metrics" | "log"> {
  store: Store;
  chain: ChainReader;
  signer: RelayerSigner;
  pool: PoolPlace;
  config: RelayerConfig;
  /** Proves appends; needed unless `config.append` is false. */
  prover?: AppendProver;
  clock?: () => number;
}

export interface Relayer {
  /** Begins to work. One of several replicas on one database sends; the others stand by. */
  start(): void;
  /** Ends the round that is under way and gives the place to another replica. What is broadcast stays in the store. */
  stop(): Promise<void>;
  /** Says that an operation was queued: it need not wait for the next look at the chain. */
  settle(id: string): void;
  /**
   * What becomes of an operation, at the latest after `ms`: pending if that is not known by then.
   * @throws RelayerError UNKNOWN_OPERATION
   */
  waitFor(id: string, ms: number): Promise<Outcome>;
  status(): Promise<RelayerStatus>;
}

const LEASE = "relayer";
/** Operations looked at in one round. */
const OPEN_OPERATIONS = 5_000;
/** How often a replica that stands by looks at the store for an outcome, ms. */
const STORE_POLL_MS = 100;
const BALANCE_EVERY_MS = 30_000;

/** @throws RelayerError INVALID_RELAYER_OPTION; SottoError DEVELOPMENT_KEYS_REFUSED, INVALID_ADDRESS */
export function createRelayer(options: RelayerOptions): Relayer {
  const { store, chain, signer, config, prover, metrics, log, clock = Date.now } = options;
  checkConfig(config);
  if (config.append && prover === undefined)
    throw new RelayerError("INVALID_RELAYER_OPTION", "a relayer that appends notes needs a prover");
  if (prover) assertAllowedOnChain(prover.artifacts, options.pool.chainId);
  const address = parseAddress(signer.address.toLowerCase(), "signer");
  const { chainId, deploymentBlock } = options.pool;
  const places = { pool: parseAddress(options.pool.pool, "pool"), token: parseAddress(options.pool.token, "token") };
  const pool: PoolPlace = { chainId, deploymentBlock, ...places };
  const context: RelayerContext = { store, chain, signer, address, pool, config, metrics, log, clock };
  const sender = new Sender(context);
  const parts = {
    follower: new Follower({ store, chain, pool, config }),
    judge: new Judge(context),
    tracker: new Tracker(context, sender),
    dispatcher: new Dispatcher(context, sender),
    appender: config.append && prover ? new Appender(context, sender, prover) : undefined,
  };
  return new RelayerLoop(context, parts);
}

interface Parts {
  follower: Follower;
  judge: Judge;
  tracker: Tracker;
  dispatcher: Dispatcher;
  appender: Appender | undefined;
}

class RelayerLoop implements Relayer {
  readonly #context: RelayerContext;
  readonly #parts: Parts;
  readonly #holder = randomUUID();
  readonly #waker = new Waker();
  readonly #changed = new Waker();
  #running: Promise<void> | undefined;
  #stopping = false;
  #lease: Lease | undefined;
  #head: Head | undefined;
  #balance: bigint | undefined;
  #balanceAt = 0;
  #lastRound: number | undefined;
  #error: string | undefined;

  constructor(context: RelayerContext, parts: Parts) {
    this.#context = context;
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#waker.wake();
    await this.#running;
    await this.#parts.appender?.settle();
    if (this.#lease) await this.#context.store.leases.release(this.#lease).catch(() => undefined);
    this.#lease = undefined;
    this.#changed.wake();
  }

  settle(_id: string): void {
    this.#waker.wake();
  }

  async waitFor(id: string, ms: number): Promise<Outcome> {
    const end = Date.now() + ms;
    for (;;) {
      const operation = await this.#context.store.operations.get(id);
      if (operation === undefined) throw new RelayerError("UNKNOWN_OPERATION", "there is no payment with this id");
      const outcome = outcomeOf(operation);
      const left = end - Date.now();
      if (outcome.state !== "pending" || left <= 0 || this.#stopping) return outcome;
      await this.#changed.sleep(Math.min(left, STORE_POLL_MS));
    }
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
        await this.#waker.sleep(busy ? Math.min(config.pollInterval, config.batchDelay) : config.pollInterval);
    }
  }

  #failed(error: unknown): false {
    const { log, metrics } = this.#context;
    if (error instanceof StoreError && error.code === "LEASE_LOST") this.#lease = undefined;
    this.#error = isUnavailable(error) ? "STORE_UNAVAILABLE" : codeOf(error);
    metrics.count("relayer_errors_total", 1, { code: this.#error });
    const detail = error instanceof Error ? error.message : String(error);
    log.error({ code: this.#error, detail }, "a round of the relayer failed; the next one tries again");
    return false;
  }

  /** @returns whether something was sent */
  async #round(): Promise<boolean> {
    const { store, config, metrics } = this.#context;
    this.#lease = await store.leases.acquire(LEASE, this.#holder, config.leaseTtl);
    metrics.gauge("relayer_leader", this.#lease ? 1 : 0);
    if (this.#lease === undefined) return false;
    const { follower, judge, tracker, dispatcher, appender } = this.#parts;
    const { head, reorganisedTo } = await follower.catchUp(this.#lease);
    if (reorganisedTo !== undefined) {
      metrics.count("relayer_reorganisations_total");
      this.#context.log.warn({ to: reorganisedTo, head: head.number }, "the chain was reorganised");
      await appender?.reorganised();
    }
    this.#head = head;
    const round = await this.#begin(this.#lease, head);
    const before = await store.operations.open(OPEN_OPERATIONS);
    const spent = await judge.judge(round, before);
    this.#changed.wake();
    await tracker.track(round, await store.operations.open(OPEN_OPERATIONS));
    const sent = await dispatcher.dispatch(round, await store.operations.open(OPEN_OPERATIONS), spent);
    const appending = (await appender?.append(round, () => this.#waker.wake())) ?? false;
    await this.#measure(before);
    this.#error = undefined;
    this.#lastRound = this.#context.clock();
    return sent || appending;
  }

  async #begin(lease: Lease, head: Head): Promise<Round> {
    const { config, chain } = this.#context;
    const confirmedNumber = head.number - config.confirmations + 1;
    const confirmed =
      confirmedNumber === head.number ? head : confirmedNumber < 0 ? undefined : await chain.block(confirmedNumber);
    return { lease, head, confirmedNumber, confirmedTimestamp: confirmed?.timestamp ?? 0 };
  }

  async #measure(operations: readonly Operation[]): Promise<void> {
    const { chain, address, metrics, clock, store } = this.#context;
    metrics.gauge("relayer_head_block", this.#head?.number ?? 0);
    metrics.gauge("relayer_queued", operations.filter(({ state }) => state === "queued").length);
    metrics.gauge("relayer_broadcast", operations.filter(({ state }) => state === "broadcast").length);
    if (clock() - this.#balanceAt < BALANCE_EVERY_MS) return;
    this.#balanceAt = clock();
    this.#balance = await chain.balance(address);
    metrics.gauge("relayer_balance_wei", Number(this.#balance));
    metrics.gauge("relayer_gas_today_wei", Number(await store.gasToday()));
  }
}

function outcomeOf({ state, txHash = "0x", blockNumber = 0, reason }: Operation): Outcome {
  if (state === "settled") return { state, txHash, blockNumber };
  if (state === "failed" || state === "expired")
    return { state: "failed", txHash: "0x", blockNumber: 0, reason: reason ?? "EXPIRED" };
  return { state: "pending", txHash, blockNumber: 0 };
}
