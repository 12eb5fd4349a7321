// Watches the heads of one set for those who ask for its origins.
import { headDigest, type OriginHead, type SignedHead } from "../core/head.ts";
import { MAX_HEAD_LEAD_MS, packOf } from "../core/heads.ts";
import { HEADS_PER_PACK } from "../core/publication.ts";
import { RootHistory } from "../core/root-history.ts";
import type { OriginSet } from "../core/set.ts";
import { OriginHeadError } from "./errors.ts";
import { assertFollows, readNewest, readPack } from "./read.ts";

/** Milliseconds between two readings. */
const INTERVAL_MS = 30_000;
/** Maximum milliseconds between two readings while the curator cannot be read. */
const MAX_PAUSE_MS = 600_000;
/** Minimum milliseconds between two readings that requests cause. */
const MIN_PAUSE_MS = 1_000;
/** How long a request waits for one, ms. */
const MAX_SEEK_MS = 2_000;
/** Maximum packs that a reading asks for: three years of heads at one a minute. */
const MAX_PACKS = 12_500;

/** How many of the newest heads are compared with those that are read later. */
const MAX_DIGESTS = 4_096;

/** Options of a {@link HeadWatch}. */
export interface HeadWatchOptions {
  /** The set. */
  readonly set: OriginSet;
  /** Base URLs at which its heads can be read: that of its curator, then those of mirrors. */
  readonly urls: readonly string[];
  /** How long a root is good after a newer head, ms. */
  readonly maxAgeMs: number;
  /** Default: the platform's. */
  readonly fetch?: typeof fetch | undefined;
  /** Now, ms. */
  readonly clock?: (() => number) | undefined;
  /** Stores new heads, oldest first, before they count. If it throws, they do not count. Default: they are kept in memory only. */
  readonly keep?: ((heads: readonly SignedHead[]) => Promise<void>) | undefined;
  /** Gets the error of each reading that failed. Default: errors are ignored. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * The roots of a set's heads, read again and again from its curator and the mirrors. It takes only signed heads, each the successor
 * of the one before it. Once the curator has signed two heads with one number, it takes no further head. While no head can be read,
 * the newest root ages too.
 */
export class HeadWatch {
  readonly #options: HeadWatchOptions;
  readonly #send: typeof fetch;
  readonly #clock: () => number;
  #roots = new RootHistory();
  /** Digests of the heads that were read, by number. */
  readonly #digests = new Map<number, string>();
  #newest: OriginHead | undefined;
  /** When the newest head was read as such for the last time, ms. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #beganAt = Number.NEGATIVE_INFINITY;
  #equivocation: OriginHeadError | undefined;
  #reading: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(options: HeadWatchOptions) {
    this.#options = options;
    this.#send = options.fetch ?? ((input, init) => fetch(input, init));
    this.#clock = options.clock ?? Date.now;
  }

  /** The newest head; undefined before the first one is read. */
  get newest(): OriginHead | undefined {
    return this.#newest;
  }

  /** Takes heads that were stored before, oldest first, before the first reading. */
  resume(heads: readonly OriginHead[]): void {
    for (const head of heads) this.#add(head);
  }

  /** Reads in the background from now on. */
  start(): void {
    this.#schedule(0);
  }

  /** Stops reading. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /**
   * Reads the heads once. Calls at the same time share one reading.
   * @throws OriginHeadError
   */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Whether a head that was read has this root. */
  has(maskRoot: bigint): boolean {
    return this.#roots.has(maskRoot);
  }

  /** Reads the heads again if none has this root: a payer may have seen a newer one. At most once a second, and it waits at most two. */
  async seek(maskRoot: bigint): Promise<void> {
    if (this.has(maskRoot) || this.#equivocation !== undefined) return;
    if (this.#reading === undefined && this.#clock() - this.#beganAt < MIN_PAUSE_MS) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const waited = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, MAX_SEEK_MS);
    });
    await Promise.race([this.refresh().catch(() => undefined), waited]);
    clearTimeout(timer);
  }

  /**
   * Whether a root was that of the newest head at most `maxAgeMs` before a payment, or later. The newest root that was read counts as
   * the newest one until the last reading.
   * @param timestamp when the payment was made, Unix ms
   */
  accepts(maskRoot: bigint, timestamp: number): boolean {
    const { maxAgeMs } = this.#options;
    if (!this.#roots.accepts(maskRoot, timestamp / 1000, maxAgeMs / 1000)) return false;
    return maskRoot !== this.#newest?.maskRoot || this.#confirmedAt > timestamp - maxAgeMs;
  }

  #schedule(pauseMs: number): void {
    if (this.#closed || this.#equivocation !== undefined) return;
    this.#timer = setTimeout(() => {
      this.refresh().then(
        () => this.#schedule(INTERVAL_MS),
        () => this.#schedule(Math.min(2 * pauseMs || INTERVAL_MS, MAX_PAUSE_MS)),
      );
    }, pauseMs);
    this.#timer.unref?.();
  }

  async #read(): Promise<void> {
    if (this.#equivocation !== undefined) throw this.#equivocation;
    const began = this.#clock();
    this.#beganAt = began;
    try {
      await this.#readNewer();
      this.#confirmedAt = began;
    } catch (error) {
      if (error instanceof OriginHeadError && error.code === "CURATOR_EQUIVOCATED") this.#equivocation = error;
      this.#options.onError?.(error);
      throw error;
    }
  }

  async #readNewer(): Promise<void> {
    const { set, urls } = this.#options;
    const read = await Promise.allSettled(urls.map((url) => readNewest(this.#send, url, set)));
    const shown = read.flatMap((result, i) =>
      result.status === "fulfilled" ? [{ url: urls[i]!, signed: result.value, head: result.value.head }] : [],
    );
    const failed = read.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    if (shown.length === 0) throw failed[0];
    // The others suffice for now, but the operator should know that one of them shows something else.
    for (const error of failed) if (isInvalid(error)) this.#options.onError?.(error);
    for (const { head } of shown) {
      this.#assertNotEarly(head);
      for (const { head: other } of shown) this.#assertSame(head, headDigest(other), other.number);
    }
    const newest = shown.reduce((a, b) => (b.head.number > a.head.number ? b : a));
    const known = this.#newest;
    if (known !== undefined && newest.head.number < known.number)
      throw new OriginHeadError(
        "CURATOR_WENT_BACK",
        `the newest head of the set ${set.name} is ${newest.head.number}, but ${known.number} was read before`,
      );
    const fresh = await this.#following(newest.url, newest.signed);
    for (const { head } of fresh) {
      const digest = this.#digests.get(head.number);
      if (digest !== undefined) this.#assertSame(head, digest, head.number);
    }
    for (const { head } of shown) {
      const found = this.#digests.get(head.number) ?? digestIn(fresh, head.number);
      if (found !== undefined) this.#assertSame(head, found, head.number);
    }
    const added = fresh.filter(({ head }) => known === undefined || head.number > known.number);
    if (added.length === 0) return;
    if (known !== undefined) assertFollows(known, added[0]!.head);
    await this.#options.keep?.(added);
    for (const { head } of added) this.#add(head);
  }

  /** The heads up to this one, from the pack of the newest known head on, or as far back as roots are good. */
  async #following(url: string, newest: SignedHead): Promise<SignedHead[]> {
    const { set, maxAgeMs } = this.#options;
    const known = this.#newest;
    if (known !== undefined && known.number === newest.head.number) return [];
    if (known !== undefined && newest.head.previous === headDigest(known)) return [newest];
    const oldest = (this.#clock() - maxAgeMs - MAX_HEAD_LEAD_MS) / 1000;
    const packs: SignedHead[][] = [];
    for (let pack = packOf(newest.head.number); pack >= 0 && packs.length < MAX_PACKS; pack -= 1) {
      packs.unshift(await readPack(this.#send, url, set, pack));
      const first = packs[0]?.[0]?.head;
      if (first === undefined) throw incomplete(set, newest.head);
      if (known === undefined ? first.time <= oldest : first.number <= known.number + 1) break;
    }
    const heads = packs.flat().filter(({ head }) => head.number <= newest.head.number);
    for (const [i, { head }] of heads.entries())
      if (i > 0 && head.number % HEADS_PER_PACK === 0) assertFollows(heads[i - 1]!.head, head);
    const last = heads.at(-1);
    if (last === undefined || last.head.number !== newest.head.number) throw incomplete(set, newest.head);
    return heads;
  }

  /** @throws OriginHeadError CURATOR_EQUIVOCATED if a head has the number of another one */
  #assertSame(head: OriginHead, digest: string, number: number): void {
    if (head.number !== number || headDigest(head) === digest) return;
    const { name, curator } = this.#options.set;
    throw new OriginHeadError(
      "CURATOR_EQUIVOCATED",
      `the curator ${curator} of the set ${name} signed two heads with the number ${number}`,
    );
  }

  #assertNotEarly({ time, number }: OriginHead): void {
    if (time * 1000 <= this.#clock() + MAX_HEAD_LEAD_MS) return;
    throw new OriginHeadError(
      "CURATOR_HEAD_INVALID",
      `head ${number} is dated more than ten minutes ahead of this clock`,
    );
  }

  #add(head: OriginHead): void {
    // A reorganization removed leaves, and older roots may be of blocks that are gone.
    if (this.#newest !== undefined && head.leaves < this.#newest.leaves) this.#roots = new RootHistory();
    this.#roots.add(head);
    this.#digests.set(head.number, headDigest(head));
    this.#digests.delete(head.number - MAX_DIGESTS);
    this.#newest = head;
  }
}

const isInvalid = (error: unknown): boolean =>
  error instanceof OriginHeadError && error.code === "CURATOR_HEAD_INVALID";

const digestIn = (heads: readonly SignedHead[], number: number): string | undefined => {
  const found = heads.find(({ head }) => head.number === number);
  return found && headDigest(found.head);
};

const incomplete = ({ name }: OriginSet, { number }: OriginHead) =>
  new OriginHeadError("CURATOR_HEAD_INVALID", `the packs of heads of the set ${name} lack head ${number}`);
