// The pool feed's worker: follows the pool through the public nodes and serves the pages.
import { type CaughtUp, type Chain, PoolFollower } from "@sotto/chain";
import { expose } from "comlink";
import type { HostConfig } from "../config.ts";
import { type Failure, failureOf, uncachedBecause } from "../errors.ts";
import { connect, pauseMs, readGenesis } from "./chain.ts";
import { PoolCache } from "./pool-cache.ts";
import { type FeedState, type GasPoint, type PoolFeed, STARTING } from "./pool-feed-api.ts";
import { PoolPages } from "./pool-pages.ts";
import { acquireTabLock } from "./tab-lock.ts";
import { withFailures } from "./with-failures.ts";

const RANGE_BLOCKS = 10_000;
/** Minimum time between two published states while pages arrive, ms. */
const PUBLISH_MS = 200;
/** Maximum receipts that one call reads. */
const MAX_RECEIPTS = 2_000;

class Feed implements PoolFeed {
  readonly #listeners: ((state: FeedState) => void)[] = [];
  #state = STARTING;
  #config: HostConfig | undefined;
  #chain: Chain | undefined;
  #follower: PoolFollower | undefined;
  #pages: PoolPages | undefined;
  #cache: PoolCache | undefined;
  #genesis: string | undefined;
  #lastTime = 0;
  #published = 0;
  #failures = 0;
  #looking: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Receipts by transaction hash. */
  #gas = new Map<string, Pick<GasPoint, "gasUsed" | "gasPrice">>();

  async subscribe(listener: (state: FeedState) => void): Promise<void> {
    this.#listeners.push(listener);
    listener(this.#state);
  }

  #set(change: Partial<FeedState>): void {
    this.#published = Date.now();
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener(this.#state);
  }

  async start(config: HostConfig): Promise<void> {
    if (this.#config !== undefined) return;
    this.#config = config;
    this.#chain = connect(config);
    const { pool, deploymentBlock, finality } = config.deployment;
    this.#follower = new PoolFollower({
      chain: this.#chain,
      pool,
      deploymentBlock,
      rangeSize: RANGE_BLOCKS,
      finality,
      timed: true,
      checkQueue: true,
      canReset: true,
    });
    void this.refresh();
  }

  refresh(): Promise<void> {
    clearTimeout(this.#timer);
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      const { chainId } = this.#config!.deployment;
      this.#timer = setTimeout(() => void this.refresh(), pauseMs(chainId, this.#failures));
    });
    return this.#looking;
  }

  /** Never rejects: the state says what went wrong. */
  async #look(): Promise<void> {
    try {
      await this.#checkGenesis();
      this.#pages ??= await this.#open();
      const before = this.#pages.last?.number;
      const caughtUp = await this.#follower!.catchUp(this.#pages);
      this.#failures = 0;
      this.#caughtUp(caughtUp, before);
    } catch (error) {
      this.#failures += 1;
      this.#set({ problem: failureOf(error) });
    }
  }

  async #checkGenesis(): Promise<void> {
    const genesis = await readGenesis(this.#chain!);
    if (this.#genesis === genesis) return;
    const known = this.#genesis;
    this.#genesis = genesis;
    if (known === undefined) return;
    await this.#pages?.restart(genesis);
    this.#gas.clear();
    const nothing = { summary: undefined, height: undefined, reorganized: undefined };
    this.#set({ ...nothing, restarted: Date.now(), phase: "reading" });
  }

  async #open(): Promise<PoolPages> {
    const { chainId, pool } = this.#config!.deployment;
    const name = `sotto-pool-${chainId}-${pool}`;
    let uncached: Failure | undefined;
    let pages: Awaited<ReturnType<PoolCache["pages"]>> = [];
    try {
      this.#cache = await PoolCache.open(name);
      if (!(await acquireTabLock(name))) {
        // Starts from the pages that another tab cached; only that tab writes.
        if ((await this.#cache.genesis()) === this.#genesis) pages = await this.#cache.pages();
        this.#cache.close();
        this.#cache = undefined;
        this.#set({ shared: true });
      } else if ((await this.#cache.genesis()) === this.#genesis) pages = await this.#cache.pages();
      else await this.#cache.reset(this.#genesis!);
    } catch (error) {
      uncached = uncachedBecause(error);
      this.#cache = undefined;
    }
    const created = PoolPages.create(this.#cache, pages, (page) => {
      this.#lastTime = page.events.at(-1)?.timestamp ?? this.#lastTime;
      if (Date.now() - this.#published > PUBLISH_MS) this.#set(this.#progress());
    });
    created.uncached = uncached;
    return created;
  }

  #progress(): Partial<FeedState> {
    const pages = this.#pages;
    if (pages?.last === undefined) return {};
    const block = { number: pages.last.number, timestamp: this.#lastTime };
    const { revision, removals: history } = pages;
    return {
      phase: this.#state.phase === "live" ? "live" : "reading",
      summary: { ...pages.history.summary(), revision, history, block },
      uncached: pages.uncached,
    };
  }

  #caughtUp({ head, rolledBackTo }: CaughtUp, before: number | undefined): void {
    this.#lastTime = head.timestamp;
    const blocks = rolledBackTo === undefined || before === undefined ? 0 : before - rolledBackTo;
    this.#set({
      ...this.#progress(),
      phase: "live",
      height: head.number,
      problem: undefined,
      reorganized: blocks > 0 ? { at: Date.now(), blocks } : this.#state.reorganized,
    });
  }

  /** Undefined until the cache is open. */
  #history() {
    return this.#pages?.history;
  }

  async notes(from: number, count: number) {
    return this.#history()?.notes(from, count) ?? [];
  }

  async transactions(skip: number, count: number) {
    return this.#history()?.transactions(skip, count) ?? [];
  }

  async transaction(hash: string) {
    return this.#history()?.transaction(hash);
  }

  async appends(count: number) {
    return this.#history()?.appends(count) ?? [];
  }

  async search(text: string, limit: number) {
    return this.#history()?.search(text, limit) ?? { hits: [], more: false };
  }

  async hours(count: number) {
    return this.#history()?.hours(count, this.#state.summary?.block.timestamp ?? 0) ?? [];
  }

  async gas(count: number): Promise<readonly GasPoint[]> {
    const settlements = this.#history()?.settlements(Math.min(count, MAX_RECEIPTS)) ?? [];
    await this.#readGas(settlements.map(({ transactionHash }) => transactionHash));
    return settlements.flatMap((settlement) => {
      const gas = this.#gas.get(settlement.transactionHash);
      return gas === undefined ? [] : [{ ...settlement, ...gas }];
    });
  }

  async #readGas(hashes: readonly string[]): Promise<void> {
    const unknown = hashes.filter((hash) => !this.#gas.has(hash));
    const cached = (await this.#cache?.gas(unknown).catch(() => undefined)) ?? [];
    for (const [i, gas] of cached.entries()) if (gas !== undefined) this.#gas.set(unknown[i]!, gas);
    const missing = unknown.filter((hash) => !this.#gas.has(hash));
    if (missing.length === 0) return;
    const receipts = await this.#chain!.receipts(missing);
    const found = receipts.flatMap((receipt) => {
      if (receipt === undefined) return [];
      const { transactionHash, gasUsed, gasPrice } = receipt;
      return [[transactionHash, { gasUsed, gasPrice }] as const];
    });
    for (const [hash, gas] of found) this.#gas.set(hash, gas);
    // Without the cache, the receipts are read again after a reload.
    await this.#cache?.addGas(found).catch(() => undefined);
  }

  async checkContracts(config: HostConfig) {
    return (await import("./pool-contracts.ts")).checkContracts(config);
  }
}

const feed: PoolFeed = new Feed();
expose(withFailures(feed));
