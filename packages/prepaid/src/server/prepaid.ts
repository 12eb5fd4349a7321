// Prepaid tokens of one paywall: keys, store, redemption and signing, with the work that is done every ten seconds.
import { CheckUnavailable } from "@sotto/resource-server";
import type { SignedSchedule } from "../index.ts";
import type { Committed } from "./commit-order.ts";
import { Commits } from "./commits.ts";
import type { PrepaidConfig } from "./config.ts";
import { PrepaidServerError } from "./errors.ts";
import { Guard } from "./guard.ts";
import type { Key, Keyring } from "./keyring.ts";
import { auditStore, type MeteredTotals } from "./metered/audit.ts";
import { isAhead, isBehind, type Progress } from "./progress.ts";
import { Redemption } from "./redemption.ts";
import type { ClosedRow } from "./schema.ts";
import { Signer } from "./signer.ts";
import { PrepaidStore } from "./store.ts";

const TICK_MS = 10_000;

/** Tokens of one key. */
export interface PrepaidTotals {
  /** Id of the key, hex with 0x. */
  readonly key: string;
  /** UTC month in which the key signs, `YYYY-MM`. */
  readonly epoch: string;
  /** Value of one token, base units. */
  readonly value: bigint;
  /** Number of tokens signed: sold, as change, or in swaps. */
  readonly issued: number;
  /** Number of tokens that paid for a request, or were swapped. */
  readonly redeemed: number;
  /** Value that was signed and not redeemed, base units. */
  readonly outstanding: bigint;
}

export interface PrepaidParts {
  readonly config: PrepaidConfig;
  readonly clock: () => number;
  readonly onError: (error: unknown) => void;
  /** Called when keys are closed because the store was restored. */
  readonly onRestored: (error: Error) => void;
  /** For tests: called after each query with its text. */
  readonly onQuery?: ((query: string) => void) | undefined;
}

export class Prepaid {
  readonly schedules: readonly SignedSchedule[];
  readonly keyring: Keyring;
  /** The digest that every token of this origin contains. */
  readonly challengeDigest: string;
  readonly store: PrepaidStore;
  readonly signer: Signer;
  readonly redemption: Redemption;
  /** Stores claims and swaps. */
  readonly commits: Commits;
  readonly #parts: PrepaidParts;
  readonly #guard: Guard;
  readonly #timer: NodeJS.Timeout;
  #ticking: Promise<void> = Promise.resolve();
  #guarding: Promise<unknown> = Promise.resolve();
  readonly #beforeClose: (() => Promise<void>)[] = [];
  /** `redemption.spent` at the last tick. */
  #spent = 0;
  #closed = false;

  private constructor(parts: PrepaidParts, store: PrepaidStore, guard: Guard) {
    const { config, clock, onError } = parts;
    const { schedules, keyring, challengeDigest, workers } = config;
    this.schedules = schedules;
    this.keyring = keyring;
    this.challengeDigest = challengeDigest;
    this.store = store;
    this.signer = new Signer(workers);
    this.redemption = new Redemption({ keyring, store, challengeDigest, clock, onError });
    this.commits = new Commits({ store, redemption: this.redemption, guarded: (run) => this.#guarded(run) });
    this.#parts = parts;
    this.#guard = guard;
    this.#timer = setInterval(() => void this.tick().catch(onError), TICK_MS).unref();
  }

  /** @throws PaywallError INVALID_OPTION; DatabaseError */
  static async open(parts: PrepaidParts): Promise<Prepaid> {
    const { config, clock, onError, onQuery } = parts;
    const guard = new Guard(config.guard);
    const store = await PrepaidStore.open({ url: config.storeUrl, clock, onError, onQuery });
    const prepaid = new Prepaid(parts, store, guard);
    try {
      const { closedBefore, keyring } = config;
      if (closedBefore !== undefined) await prepaid.#close(keyring.before(closedBefore), "operator");
      await prepaid.tick();
    } catch (error) {
      await prepaid.close();
      throw error;
    }
    return prepaid;
  }

  /** Notices a restored store, closes keys whose months have ended, and deletes old rows. Ticks never overlap. */
  tick(): Promise<void> {
    const next = this.#ticking.catch(() => undefined).then(() => (this.#closed ? undefined : this.#tick()));
    this.#ticking = next;
    return next;
  }

  async #tick(): Promise<void> {
    const { store, keyring } = this;
    await this.#alone(async () => {
      const now = await store.now();
      let progress = await store.progress();
      if (isBehind(this.#guard.known, progress)) await this.#closeRestored(now);
      const spent = this.redemption.spent;
      if (spent !== this.#spent || progress?.ticks === 0) progress = await store.tick();
      this.#spent = spent;
      await this.#close(keyring.endedAt(now), "ended");
      keyring.close(await store.closed());
      // The guard follows the store, never the other way round.
      if (progress !== undefined) await this.#guard.record(progress);
    });
    await store.sweep();
  }

  /** Reads the store's progress and records it in the guard, one action at a time: a late one would look like a restore. */
  #alone<T>(action: () => Promise<T>): Promise<T> {
    const next = this.#guarding.catch(() => undefined).then(action);
    this.#guarding = next;
    return next;
  }

  /** Whether this server has a file that notices a restored store. */
  get hasGuard(): boolean {
    return this.#parts.config.guard !== undefined;
  }

  /** See `CommitParts`. */
  #guarded<T>(run: (known: Progress | undefined) => Promise<Committed<T> | "restored">): Promise<T> {
    return this.#alone(async () => {
      const committed = await run(this.#guard.known);
      if (committed === "restored") {
        await this.#closeRestored(await this.store.now());
        throw new CheckUnavailable("PREPAID_STORE_RESTORED");
      }
      const { result, progress } = committed;
      if (progress !== undefined) await this.#guard.record(progress);
      return result;
    });
  }

  /**
   * Resolves once the guard has recorded everything that this server has read so far, so that it may leave.
   * @throws CheckUnavailable if the store was restored; Error of the file system
   */
  recordRead(): Promise<void> {
    return this.#alone(async () => {
      const progress = await this.store.progress();
      if (progress === undefined || isBehind(this.#guard.known, progress)) {
        await this.#closeRestored(await this.store.now());
        throw new CheckUnavailable("PREPAID_STORE_RESTORED");
      }
      if (isAhead(this.#guard.known, progress)) await this.#guard.record(progress);
    });
  }

  async #closeRestored(now: number): Promise<void> {
    // Also those that this process knows as closed: the restored store may not know it.
    const started = this.keyring.startedBy(now).map(({ id }) => id);
    await this.store.close(started, "restored");
    this.keyring.close(started);
    this.#parts.onRestored(
      new PrepaidServerError(
        "PREPAID_STORE_RESTORED",
        "the store of prepaid tokens was restored from a backup or replaced, so it may have forgotten spent tokens: " +
          "the keys of this epoch and the previous one are closed, and selling resumes with the next epoch",
      ),
    );
  }

  async #close(keys: readonly Key[], reason: ClosedRow["reason"]): Promise<void> {
    const open = keys.filter(({ id }) => !this.keyring.isClosed(id)).map(({ id }) => id);
    await this.store.close(open, reason);
    this.keyring.close(open);
  }

  /** Tokens by key. It counts rows, so do not call it for every request. */
  async totals(): Promise<readonly PrepaidTotals[]> {
    const { keys } = await auditStore(this.store, this.keyring.all);
    return keys.map(({ key, epoch, value, sold, change, swappedIn, unspent }) => {
      const issued = sold + change + swappedIn;
      const count = (sum: bigint) => Number(sum / value);
      return { key, epoch, value, issued: count(issued), redeemed: count(issued - unspent), outstanding: unspent };
    });
  }

  /** What became of the tokens of metered requests. It counts rows, so do not call it for every request. */
  async meteredTotals(): Promise<MeteredTotals> {
    const { keys: _keys, problems: _problems, ...totals } = await auditStore(this.store, this.keyring.all);
    return totals;
  }

  /** Runs an action before the store is closed. */
  beforeClose(action: () => Promise<void>): void {
    this.#beforeClose.push(action);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all(this.#beforeClose.map((action) => action()));
    await this.commits.end();
    clearInterval(this.#timer);
    await this.#ticking.catch(() => undefined);
    await this.#guarding.catch(() => undefined);
    await this.redemption.end();
    await this.signer.close();
    await this.store.end();
  }
}
