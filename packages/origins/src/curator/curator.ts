// A curator without HTTP: follows the chain, judges, signs and publishes.
import { type ChainSource, PoolFollower } from "@sotto/chain";
import { DatabaseError, holderName, type Lease } from "@sotto/database";
import { type Address, hexToBytes, LOCAL_CHAIN_IDS } from "@sotto/protocol";
import type { ServiceLog } from "@sotto/server";
import type { Registry } from "prom-client";
import type { OriginClaim } from "../core/claim.ts";
import type { OriginSet } from "../core/set.ts";
import { Claims, type ClaimVerifier } from "./claims/claims.ts";
import { confirmedChain } from "./follow/confirmed.ts";
import { curatorSink } from "./follow/sink.ts";
import type { Judge } from "./judges/judge.ts";
import { Judging } from "./judges/judging.ts";
import { type ClaimResult, curatorMetrics } from "./ops/metrics.ts";
import { Heads } from "./publish/heads.ts";
import { policyOf } from "./publish/policy.ts";
import { Publisher } from "./publish/publisher.ts";
import { assertNewest } from "./publish/seen.ts";
import { type Newest, Replica } from "./set/replica.ts";
import { SetWriter } from "./set/writer.ts";
import { CuratorStore } from "./store/store.ts";

/** How long a leader may be silent until another replica takes over, ms. */
const LEASE_MS = 15_000;
/** A round that runs for longer than this stalls, ms: another replica leads then. */
const STALLED_MS = 300_000;
const RANGE_SIZE = 10_000;

/** The dependencies of a curator. */
export interface CuratorOptions {
  /** What the curator signs as; `curator` is the account of `key`. */
  readonly set: OriginSet;
  /** The curator's private key, 32 bytes, hex with 0x. */
  readonly key: string;
  readonly chain: ChainSource;
  /** The token of the pool. */
  readonly token: Address;
  /** The block of the pool's deployment. */
  readonly deploymentBlock: number;
  /** Blocks until an event counts, including its own, at least 1. */
  readonly confirmations: number;
  /** `sqlite:PATH`, or `postgres://..` for several replicas. */
  readonly store: string;
  /** Folder of the published files. */
  readonly folder: string;
  /** Base URLs at which heads of the set are shown: its own, and mirrors. */
  readonly shownAt: readonly string[];
  readonly slotSeconds: number;
  /** In the order in which they are asked. */
  readonly judges: (store: CuratorStore) => readonly Judge[];
  /** The curator's own words about its set. */
  readonly description: string;
  readonly verifier: ClaimVerifier;
  readonly log: ServiceLog;
  readonly metrics: Registry;
  /** Now, ms. */
  readonly clock?: (() => number) | undefined;
  /** A time that never goes back, ms; for tests. */
  readonly monotonic?: (() => number) | undefined;
  /** How often the leader renews its lease, and how long a round asks judges, ms; for tests. */
  readonly renewMs?: number | undefined;
  readonly askingMs?: number | undefined;
  /** Called before each file is replaced; for tests. */
  readonly onFile?: ((path: string) => void) | undefined;
  /** Called after each query; for tests. */
  readonly onQuery?: ((sql: string) => void) | undefined;
}

/** A curator of one set. */
export class Curator {
  readonly #store: CuratorStore;
  readonly #writer: SetWriter;
  readonly #claims: Claims;
  readonly #judging: Judging;
  readonly #heads: Heads;
  readonly #publisher: Publisher;
  readonly #follower: PoolFollower;
  readonly #headSigned: () => void;
  readonly #holder = holderName();
  /** A round may take longer than the lease: a first one reads the whole chain. */
  readonly #renewing: NodeJS.Timeout;
  #renewal: Promise<void> | undefined;
  readonly #monotonic: () => number;
  /** When the running round began, ms; undefined between two rounds. */
  #began: number | undefined;
  #lease: Lease | undefined;
  #published: Newest | undefined;

  private constructor(options: CuratorOptions, store: CuratorStore, writer: SetWriter) {
    const { set, chain, token, deploymentBlock, confirmations, clock = Date.now, log } = options;
    this.#store = store;
    this.#writer = writer;
    this.#monotonic = options.monotonic ?? (() => performance.now());
    this.#renewing = setInterval(
      () => {
        this.#renewal ??= this.#renew().finally(() => {
          this.#renewal = undefined;
        });
      },
      options.renewMs ?? LEASE_MS / 3,
    );
    this.#renewing.unref();
    const judges = options.judges(store);
    const figures = () => this.#figures();
    const names = judges.map(({ name }) => name);
    const metrics = curatorMetrics(options.metrics, names, figures, clock);
    this.#headSigned = metrics.headSigned;
    const { verifier, slotSeconds } = options;
    this.#claims = new Claims({ writer, verifier, metrics });
    const place = { pool: set.pool, token };
    this.#judging = new Judging({
      store,
      writer,
      judges,
      chain,
      place,
      metrics,
      log,
      clock,
      askingMs: options.askingMs,
    });
    const policy = policyOf(set, confirmations, judges, options.description);
    this.#heads = new Heads({ writer, set, policy, secret: hexToBytes(options.key, 32), slotSeconds, log, clock });
    this.#publisher = new Publisher(store, options.folder, options.onFile);
    this.#follower = new PoolFollower({
      chain: confirmedChain(chain, confirmations - 1),
      pool: set.pool,
      deploymentBlock,
      rangeSize: RANGE_SIZE,
      timed: true,
      anchors: true,
      checkQueue: true,
      canReset: LOCAL_CHAIN_IDS.includes(BigInt(set.chainId)),
    });
  }

  /**
   * Opens the curator's database and computes its set.
   * @throws CuratorError ORIGIN_STORE_MISMATCH, ORIGIN_STORE_OUTDATED, ORIGIN_STORE_DAMAGED; DatabaseError
   */
  static async open(options: CuratorOptions): Promise<Curator> {
    const { set, folder, shownAt, log, onQuery, clock } = options;
    const onError = (error: Error) => log.warn({ err: error }, "database");
    const store = await CuratorStore.open({ url: options.store, set, onError, onQuery, clock });
    try {
      const unreachable = (url: string) => log.warn({ host: new URL(url).host }, "no head is shown here");
      await assertNewest({ store, set, folder, urls: shownAt, unreachable });
      const writer = new SetWriter(store, await Replica.create());
      await writer.sync();
      const curator = new Curator(options, store, writer);
      await curator.#judging.start();
      await curator.#publish();
      return curator;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** Whether the running round runs for too long. */
  get isStalled(): boolean {
    return this.#began !== undefined && this.#monotonic() - this.#began > STALLED_MS;
  }

  /** Whether this replica leads. */
  get leads(): boolean {
    return this.#lease !== undefined;
  }

  /** The newest head and its mask; undefined before the first. */
  get newest(): Newest | undefined {
    return this.#writer.replica.newest;
  }

  /** One round: the leader follows the chain, judges and signs; every replica publishes. @throws SottoError */
  async round(): Promise<void> {
    this.#began = this.#monotonic();
    this.#lease = await this.#store.acquire(this.#holder, LEASE_MS);
    try {
      if (this.#lease !== undefined) await this.#lead(this.#lease);
    } catch (error) {
      if (error instanceof DatabaseError && error.code === "LEASE_LOST") this.#lease = undefined;
      throw error;
    } finally {
      // Also if the chain does not answer: what another replica signed is published.
      try {
        await this.#writer.sync();
        await this.#publish();
      } finally {
        this.#began = undefined;
      }
    }
  }

  /**
   * Only while a round runs, and not while it stalls: then another replica leads. A replica that lost the lease notices it at its
   * next write.
   */
  async #renew(): Promise<void> {
    const held = this.#lease;
    if (held === undefined || this.#began === undefined || this.isStalled) return;
    const lease = await this.#store.acquire(this.#holder, LEASE_MS).catch(() => undefined);
    // After the lease expired, this is another one. The round fails with the old one, and the next or `close` uses this.
    if (lease !== undefined && this.#lease === held) this.#lease = lease;
  }

  async #lead(lease: Lease): Promise<void> {
    await this.#follower.catchUp(curatorSink(this.#store, lease));
    await this.#writer.sync();
    await this.#judging.round(lease);
    await this.#writer.sync();
    if (await this.#heads.sign(lease)) this.#headSigned();
  }

  async #publish(): Promise<void> {
    const { newest } = this.#writer.replica;
    if (newest === undefined || newest === this.#published) return;
    await this.#publisher.publish(newest);
    this.#published = newest;
  }

  /** Takes claims: see `Claims.take`. */
  claim(claims: readonly OriginClaim[], client: string): Promise<ClaimResult[]> {
    return this.#claims.take(claims, client);
  }

  /** @throws DatabaseError STORE_UNAVAILABLE */
  ping(): Promise<void> {
    return this.#store.ping();
  }

  #figures() {
    const { replica } = this.#writer;
    const { newest, waiting, entries } = replica;
    const head = newest?.signed.head;
    const leaves = newest?.members ?? 0;
    return { headTime: head?.time, leaves, waiting: waiting.size, entries, leads: this.leads };
  }

  /** Ends the running round as soon as possible. */
  stop(): void {
    this.#judging.stop();
  }

  /** Ends the work. The caller has ended the rounds. */
  async close(): Promise<void> {
    this.stop();
    clearInterval(this.#renewing);
    await this.#renewal;
    if (this.#lease !== undefined) await this.#store.release(this.#lease).catch(() => undefined);
    await this.#store.close();
  }
}
