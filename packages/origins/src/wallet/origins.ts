import { type Bytes32, type PermuteMany, prepareOrigin, SottoError } from "@sotto/protocol";
import { Lock, separateFetch, WalletError, type WalletNote } from "@sotto/wallet";
import type { OriginClaim } from "../core/claim.ts";
import { decodeClaim, encodeClaim } from "../core/claim.ts";
import type { OriginEvidence } from "../core/evidence.ts";
import { ROOT_GRACE_SECONDS } from "../core/root-history.ts";
import type { OriginSet } from "../core/set.ts";
import { parseSet } from "../core/set.ts";
import { OriginsAhead } from "./ahead.ts";
import { Book, type BookedSet } from "./book.ts";
import { OriginError } from "./errors.ts";
import { makeEvidence } from "./evidence.ts";
import { Standings } from "./membership.ts";
import {
  type Followed,
  type FollowOptions,
  MINIMUM_CROWD,
  type OriginsWallet,
  parseFollowed,
  parseSetKey,
} from "./options.ts";
import type { ClaimRecord, SetKey, SetRecord } from "./records.ts";
import { setKeyOf } from "./records.ts";
import { postponed, sendClaims } from "./send-claims.ts";
import { isDone, isGood, leavesOf, type Spent, spentBy, stateOf } from "./spends.ts";
import { type FollowedStatus, statusOf } from "./status.ts";
import { assertGoing, type RemovalLimit, syncSet } from "./sync-set.ts";
import { type SetView, sharedBy } from "./view.ts";

/** Heads may remove 100 leaves, or one in a hundred of the set, before the owner is asked. */
export const REMOVAL_LIMIT: RemovalLimit = { leaves: 100, share: 0.01 };

/**
 * Maximum age of the head for which a new origin is made, ms: half of the time for which its root stays good after a newer one.
 * A head is as old as its block, or as the last time that it was read as the newest.
 */
const MAX_HEAD_AGE_MS = 500 * ROOT_GRACE_SECONDS;

/**
 * Shortest and longest pause between two syncs in the background, ms. Nothing else determines when they are, so that the curator does not
 * see from them when the wallet pays.
 */
const MIN_PAUSE_MS = 60_000;
export const MAX_PAUSE_MS = 120_000;

/** Options of {@link Origins.open}. */
export interface OriginsOptions {
  /** Reads files of curators and mirrors, and sends claims. Default: the platform's, and in Node a connection for each claim. */
  readonly fetch?: typeof fetch | undefined;
  /** How many leaves heads may remove before the owner is asked. Default: 100, or 1 % of the set. */
  readonly removals?: RemovalLimit | undefined;
  /** A faster permutation for hashing chunks, such as that of `createTreeKernel` of @sotto/prover/scan. */
  readonly permutation?: PermuteMany | undefined;
}

/** Options of {@link Origins.sync}. */
export interface SyncSetsOptions {
  /** Whether it sends claims. Default: true. */
  readonly claims?: boolean | undefined;
  /** Sends claims again whose last attempt failed, without waiting. Default: false. */
  readonly retry?: boolean | undefined;
  /** Stops it; the next sync resumes. */
  readonly signal?: AbortSignal | undefined;
}

/** What a sync did. */
export interface Synced {
  /** Sets whose head is newer than before. */
  readonly heads: number;
  /** Claims that curators took. */
  readonly claims: number;
  /** What failed; the rest was done all the same. */
  readonly problems: readonly { readonly set: SetKey; readonly error: unknown }[];
}

/**
 * Follows the sets of curators for a wallet, and shows the origins of its notes. While it is open, the wallet keeps notes of different
 * standing apart (`Wallet.keepApart`). All state is in the wallet's store, under `origins/`.
 */
export class Origins {
  readonly #wallet: OriginsWallet;
  readonly #book: Book;
  readonly #options: OriginsOptions;
  readonly #syncing = new Lock();
  readonly #claiming = new Lock();
  readonly #closing = new AbortController();
  /** When the head of each set was read as the newest for the last time, ms; -Infinity if its block is gone. */
  readonly #readAt = new Map<string, number>();
  readonly #endApart: () => void;
  #standings: Standings | undefined;
  readonly #crowds = new Map<string, number>();
  readonly #ahead = new OriginsAhead();
  #timer: ReturnType<typeof setTimeout> | undefined;

  private constructor(wallet: OriginsWallet, book: Book, options: OriginsOptions) {
    this.#wallet = wallet;
    this.#book = book;
    this.#options = options;
    this.#endApart = wallet.keepApart((note) => this.#standingsNow().group(note, this.#followed()));
  }

  /** Opens the sets that the wallet follows. @throws WalletError STORE_DAMAGED */
  static async open(wallet: OriginsWallet, options: OriginsOptions = {}): Promise<Origins> {
    return new Origins(wallet, await Book.open(wallet.store, leavesOf(wallet), options.permutation), options);
  }

  /** Stops what runs in the background. The wallet keeps no notes apart any more. */
  close(): void {
    this.#closing.abort(new WalletError("WALLET_CLOSED", "origins are closed; open them again"));
    clearTimeout(this.#timer);
    this.#endApart();
    this.#ahead.keep(new Set());
  }

  /** The sets that the wallet follows. */
  sets(): OriginSet[] {
    const { chainId, pool } = this.#wallet.pool;
    return this.#followed().map(({ record: { curator, name } }) => ({ chainId: Number(chainId), pool, curator, name }));
  }

  /**
   * Follows a set from now on, or changes how it is followed. Only the wallet's owner may choose sets: following one that a server
   * names would let the server find the wallet's note.
   * @throws OriginError INVALID_OPTION
   */
  async follow(set: Followed, { acceptRemoval = false, claimEarlier = false }: FollowOptions = {}): Promise<void> {
    const parsed = parseFollowed(set, this.#wallet.pool.chainId);
    await this.#syncing.run(async () => {
      const known = this.#book.set(parsed)?.record;
      const record: SetRecord = {
        ...(known ?? {
          since: this.#wallet.confirmed?.number ?? this.#wallet.height,
          head: null,
          manifest: "",
          checked: [],
          seen: null,
          removed: 0,
          consented: 0,
          asked: null,
          stopped: null,
        }),
        ...parsed,
        minimumCrowd: parsed.minimumCrowd ?? known?.minimumCrowd ?? MINIMUM_CROWD,
        followed: true,
        ...(claimEarlier ? { since: -1 } : {}),
      };
      const { asked } = record;
      const consent = acceptRemoval && asked !== null ? { consented: asked, asked: null } : {};
      await this.#book.putSet({ ...record, ...consent });
    });
  }

  /**
   * Follows a set no longer. What the wallet showed of it stays in the store: its leaves count for the crowd of other sets.
   * @throws OriginError ORIGIN_NOT_FOLLOWED
   */
  async unfollow(set: SetKey): Promise<void> {
    await this.#syncing.run(async () => {
      const { record } = this.#followedSet(set);
      if (this.#book.claimsOf(record).length === 0 && record.stopped === null) await this.#book.deleteSet(record);
      else await this.#book.putSet({ ...record, followed: false });
      this.#dropOutdated();
    });
  }

  /**
   * Scans the chain, takes the newest head of every set, and sends the claims of confirmed spends. A kill at any time is harmless.
   * @throws the errors of `Wallet.scan`; the signal's reason. Errors of sets are in the result
   */
  sync({ claims: isClaiming = true, retry = false, signal }: SyncSetsOptions = {}): Promise<Synced> {
    const either = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    return this.#syncing.run(async () => {
      await this.#wallet.scan({ signal: either });
      const problems: { set: SetKey; error: unknown }[] = [];
      let heads = 0;
      let claims = 0;
      for (const { record } of this.#followed()) {
        const { curator, name } = record;
        const attempt = async (action: () => Promise<void>) => {
          try {
            await action();
            return undefined;
          } catch (error) {
            either.throwIfAborted();
            if (!(error instanceof SottoError)) throw error;
            problems.push({ set: { curator, name }, error });
            return error;
          }
        };
        const headProblem = await attempt(async () => {
          const place = setKeyOf(record);
          const gone = () => this.#readAt.set(place, Number.NEGATIVE_INFINITY);
          const { isTaken, isNewest } = await syncSet(this.#context(either), record, gone);
          if (isTaken) heads += 1;
          if (isNewest) this.#readAt.set(place, this.#wallet.now());
        });
        this.#dropOutdated();
        const claimProblem = await attempt(async () => {
          if (isClaiming) claims += await this.#sendDue(record, retry, either);
        });
        await this.#keepProblem(record, headProblem ?? claimProblem);
      }
      return { heads, claims, problems };
    }, either);
  }

  /** Stores what failed at a sync, or that nothing did, for the next process too. It writes only what is new. */
  async #keepProblem(set: SetKey, error: SottoError | undefined): Promise<void> {
    const record = this.#book.set(set)?.record;
    if (record === undefined || (record.problem?.code === error?.code && record.problem?.message === error?.message))
      return;
    // Messages name heads and statuses, so they may differ each time.
    const since = record.problem?.since ?? this.#wallet.now();
    const problem = error === undefined ? null : { code: error.code, message: error.message, since };
    await this.#book.putSet({ ...record, problem });
  }

  /**
   * Syncs in the background from now on, every one to two minutes.
   * @param onProblem called with what fails; default: it is in `status` only
   */
  start(onProblem: (error: unknown) => void = () => undefined): void {
    const run = async () => {
      const { problems } = await this.sync();
      for (const { error } of problems) onProblem(error);
    };
    const plan = (pause: number) => {
      if (this.#closing.signal.aborted) return;
      this.#timer = setTimeout(() => {
        void run()
          .catch((error: unknown) => {
            if (!this.#closing.signal.aborted) onProblem(error);
          })
          .finally(() => plan(MIN_PAUSE_MS + Math.random() * (MAX_PAUSE_MS - MIN_PAUSE_MS)));
      }, pause);
      (this.#timer as { unref?: () => void }).unref?.();
    };
    plan(0);
  }

  /** Whether `prove` would show this note's origin now: it is in the set, the head is not old, and the crowd suffices. */
  canProve({ leafIndex, nullifier }: WalletNote, set: SetKey): boolean {
    const { record, view } = this.#book.set(set) ?? {};
    if (record?.followed !== true || record.stopped !== null || nullifier === undefined) return false;
    const claim = this.#book.claim(record, nullifier);
    if (claim !== undefined) return isGood(claim, this.#wallet.now() / 1000);
    return view?.has(leafIndex) === true && this.#ageOf(record, view) < MAX_HEAD_AGE_MS && this.#isCrowded(record);
  }

  /** The followed sets in which one of the wallet's notes was proved to be, with one of these mask roots. */
  setsWith(maskRoots: readonly bigint[]): SetKey[] {
    const isProved = ({ record }: BookedSet) =>
      this.#book.claimsOf(record).some(({ maskRoot }) => maskRoots.includes(BigInt(maskRoot)));
    return this.#followed()
      .filter(isProved)
      .map(({ record: { curator, name } }) => ({ curator, name }));
  }

  /**
   * The origin of a note in a set. It is stored before it is returned; later calls return the same, so that nobody ever sees two roots
   * for one nullifier.
   * @throws OriginError ORIGIN_NOT_FOLLOWED, ORIGIN_NOT_IN_SET, ORIGIN_HEAD_OLD, ORIGIN_CROWD_SMALL, CURATOR_EQUIVOCATED,
   *   CURATOR_MASK_FALSE; the errors of `Wallet.proveNote`; the signal's reason
   */
  prove(leafIndex: number, set: SetKey, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<OriginClaim> {
    return this.#claiming.run(async () => {
      const booked = this.#followedSet(set);
      assertGoing(booked.record);
      return decodeClaim(await this.#claimOf(booked, leafIndex, false, signal));
    }, signal);
  }

  /**
   * Proves the origin of a note ahead, while the wallet proves no payment: `prove` then returns it at once, until a head with another
   * root comes. It is kept in memory, and nothing is stored: the wallet shows it to nobody before `prove`. It does nothing if `prove` would show
   * nothing or what it showed before, and if it proved or tried the note with this root already.
   * @throws the errors of `Wallet.proveNote`; the reason of an abort, if it is outdated before it is proved
   */
  async proveAhead(leafIndex: number, set: SetKey): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const note = this.#noteAt(leafIndex);
    if (note?.nullifier === undefined || !this.canProve(note, set)) return;
    const { record, view } = this.#followedSet(set);
    if (view === undefined || this.#book.claim(record, note.nullifier) !== undefined) return;
    await this.#ahead.prove(note.nullifier, view.signed.head.maskRoot, (signal) =>
      this.#proved(view, leafIndex, true, signal),
    );
  }

  /**
   * Evidence for one reader that the money of a payment, merge or withdrawal was in a set: the origins of all notes that it spent. Its
   * reader learns which transaction it is about. Keep it secret from others.
   * @param transaction hash of the transaction, 32 bytes
   * @throws OriginError ORIGIN_SPEND_UNKNOWN, ORIGIN_TOO_LATE, CURATOR_UNREACHABLE, CURATOR_HEAD_INVALID, and those of `prove`; ChainError
   */
  async evidence(
    set: SetKey,
    transaction: Bytes32,
    { signal = this.#closing.signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<OriginEvidence> {
    const isIt = ({ transactionHash, confirmed }: Spent) => confirmed && transactionHash === transaction;
    const spent = spentBy(this.#wallet).find(isIt);
    if (spent === undefined)
      throw new OriginError(
        "ORIGIN_SPEND_UNKNOWN",
        `this wallet made no confirmed spend in transaction ${transaction}`,
        {
          transaction,
        },
      );
    const claims: ClaimRecord[] = [];
    for (const leaf of spent.leaves) {
      await this.prove(leaf, set, { signal });
      claims.push(this.#book.claim(parseSetKey(set), spent.nullifiers[claims.length]!)!);
    }
    const { record, view } = this.#followedSet(set);
    const { chainId, pool } = this.#wallet.pool;
    const { curator, name } = record;
    const parts = { set: parseSet({ chainId: Number(chainId), pool, curator, name }), url: record.url };
    const { access } = this.#context(signal);
    return makeEvidence(this.#wallet, access, { ...parts, newest: view!.signed, spent, claims });
  }

  /**
   * How many notes could be the one whose origin is shown: the leaves that are in this set and in all others for which the wallet ever
   * showed an origin, less the claims in their logs, each of which names one spent note. 0 before the first head.
   */
  crowd(set: SetKey): number {
    const { view } = this.#followedSet(set);
    if (view === undefined) return 0;
    const shown = this.#book.sets().filter(({ record }) => this.#book.claimsOf(record).length > 0);
    const views = new Set([view, ...shown.flatMap((each): SetView[] => (each.view === undefined ? [] : [each.view]))]);
    const claims = [...views].reduce((total, { signed }) => total + signed.head.claims, 0);
    return Math.max(0, sharedBy([...views]) - claims);
  }

  /** Every set that the wallet follows, and the standing of its notes, as of the last sync. */
  status(): FollowedStatus[] {
    return this.#followed().map((set) => statusOf(this.#wallet, this.#book, set, this.crowd(set.record)));
  }

  #context(signal: AbortSignal) {
    const { fetch: given, removals = REMOVAL_LIMIT } = this.#options;
    const send: typeof fetch = given ?? ((input, init) => fetch(input, init));
    return { wallet: this.#wallet, book: this.#book, access: { send, signal }, removals };
  }

  #followed(): BookedSet[] {
    return this.#book.sets().filter(({ record }) => record.followed);
  }

  /** @throws OriginError ORIGIN_NOT_FOLLOWED */
  #followedSet(key: SetKey): BookedSet {
    const parsed = parseSetKey(key);
    const found = this.#book.set(parsed);
    if (found?.record.followed === true) return found;
    throw new OriginError(
      "ORIGIN_NOT_FOLLOWED",
      `the wallet does not follow the set ${parsed.name} of ${parsed.curator}`,
      {
        set: setKeyOf(parsed),
      },
    );
  }

  /** Selection of notes asks for many notes at once; the standings are those of that moment. */
  #standingsNow(): Standings {
    if (this.#standings === undefined) {
      this.#standings = new Standings(this.#wallet, this.#book);
      queueMicrotask(() => {
        this.#standings = undefined;
      });
    }
    return this.#standings;
  }

  /** The claim of a note. A new one is stored before this returns. Call it in turn. */
  async #claimOf(
    { record, view }: BookedSet,
    leafIndex: number,
    idle: boolean,
    signal: AbortSignal | undefined,
  ): Promise<ClaimRecord> {
    const note = this.#noteAt(leafIndex);
    const known = note?.nullifier === undefined ? undefined : this.#book.claim(record, note.nullifier);
    if (known !== undefined) return known;
    if (view === undefined || note === undefined || !view.has(leafIndex)) {
      const why = view === undefined ? "no head" : note === undefined ? "no note" : this.#why(note, record);
      throw new OriginError("ORIGIN_NOT_IN_SET", `note ${leafIndex} is not in the set ${record.name}: ${why}`, {
        leafIndex,
        why,
      });
    }
    const ageMs = this.#ageOf(record, view);
    if (ageMs >= MAX_HEAD_AGE_MS)
      throw new OriginError("ORIGIN_HEAD_OLD", `the newest head of the set ${record.name} that was read is too old`, {
        ageMs: Number.isFinite(ageMs) ? ageMs : null,
      });
    this.#assertCrowd(record);
    const { head } = view.signed;
    const ahead = note.nullifier === undefined ? undefined : this.#ahead.take(note.nullifier, head.maskRoot);
    const proved = ahead ?? (await this.#proved(view, leafIndex, idle, signal));
    const { curator, name } = record;
    const claim: ClaimRecord = {
      ...{ curator, name, leafIndex, head: head.number, result: null, attempts: 0, next: 0 },
      ...encodeClaim(proved),
      // A newer head may have been taken while the proof was made.
      until: this.#untilNow(record, view),
    };
    await this.#book.addClaim(claim);
    return claim;
  }

  #noteAt(leafIndex: number): WalletNote | undefined {
    return this.#wallet.notes().find((note) => note.leafIndex === leafIndex);
  }

  async #proved(
    view: SetView,
    leafIndex: number,
    idle: boolean,
    signal: AbortSignal | undefined,
  ): Promise<OriginClaim> {
    const { maskRoot } = view.signed.head;
    let nullifier = 0n;
    const proof = await this.#wallet.proveNote(
      leafIndex,
      "origin",
      (note) => {
        const statement = prepareOrigin({ note, path: view.path(leafIndex), maskRoot });
        nullifier = statement.nullifier;
        return statement;
      },
      { idle, signal },
    );
    return { nullifier, maskRoot, proof };
  }

  /** Drops the origins proved ahead that no set has at its newest head. */
  #dropOutdated(): void {
    const going = this.#followed().filter(({ record }) => record.stopped === null);
    this.#ahead.keep(new Set(going.flatMap(({ view }) => (view === undefined ? [] : [view.signed.head.maskRoot]))));
  }

  /** How long ago the head was the newest for all that the wallet knows, ms. Infinity if its block is gone. */
  #ageOf(key: SetKey, { signed }: SetView): number {
    const readAt = this.#readAt.get(setKeyOf(key));
    const blockAt = signed.head.blockTime * 1000;
    if (readAt === Number.NEGATIVE_INFINITY) return Number.POSITIVE_INFINITY;
    return this.#wallet.now() - Math.max(blockAt, readAt ?? blockAt);
  }

  /** Selection of notes asks for many notes at once; the crowd is that of that moment. */
  #isCrowded(record: SetRecord): boolean {
    const place = setKeyOf(record);
    const known = this.#crowds.get(place);
    if (known === undefined) queueMicrotask(() => this.#crowds.delete(place));
    const crowd = known ?? this.crowd(record);
    this.#crowds.set(place, crowd);
    return crowd >= record.minimumCrowd;
  }

  #untilNow(key: SetKey, { signed }: SetView): number | null {
    const newest = this.#book.set(key)?.view?.signed.head;
    return newest === undefined || newest.maskRoot === signed.head.maskRoot ? null : newest.blockTime;
  }

  #why(note: WalletNote, record: SetRecord): string {
    const standing = new Standings(this.#wallet, this.#book).of(note, this.#book.set(record)!);
    return "why" in standing ? standing.why : standing.in;
  }

  /** @throws OriginError ORIGIN_CROWD_SMALL */
  #assertCrowd(record: SetRecord): void {
    const crowd = this.crowd(record);
    const minimum = record.minimumCrowd;
    if (crowd >= minimum) return;
    throw new OriginError(
      "ORIGIN_CROWD_SMALL",
      `only ${crowd} notes could be the one whose origin would be shown, and the minimum is ${minimum}`,
      { crowd, minimum },
    );
  }

  /** Sends the claims that are due, one spend a request, in random order. @returns how many the curator took */
  async #sendDue(record: SetRecord, retry: boolean, signal: AbortSignal): Promise<number> {
    const now = this.#wallet.now();
    const isTime = (spent: Spent) =>
      retry || spent.nullifiers.every((nullifier) => (this.#book.claim(record, nullifier)?.next ?? 0) <= now);
    const due = spentBy(this.#wallet).filter(
      (spent) => stateOf(this.#book, this.#book.set(record)!, spent) === "due" && isTime(spent),
    );
    let taken = 0;
    let problem: unknown;
    for (const spent of shuffled(due)) {
      assertGoing(this.#book.set(record)!.record);
      try {
        taken += await this.#sendSpend(record, spent, signal);
      } catch (error) {
        signal.throwIfAborted();
        problem ??= error;
      }
    }
    if (problem !== undefined) throw problem;
    return taken;
  }

  async #sendSpend(record: SetRecord, { leaves, nullifiers }: Spent, signal: AbortSignal): Promise<number> {
    for (const leaf of leaves)
      await this.#claiming.run(() => this.#claimOf(this.#book.set(record)!, leaf, true, signal), signal);
    const claims = () => nullifiers.map((nullifier) => this.#book.claim(record, nullifier)!);
    const open = claims().filter((claim) => !isDone(claim));
    const access = { send: this.#claimFetch(), signal };
    let results: string[];
    try {
      results = await sendClaims(access, record.url, open);
    } catch (error) {
      signal.throwIfAborted();
      await this.#book.putClaims(open.map((claim) => postponed(this.#wallet, claim)));
      throw error;
    }
    const answered = open.map((claim, i) => ({ ...claim, result: results[i]! }));
    await this.#book.putClaims(answered.map((claim) => (isDone(claim) ? claim : postponed(this.#wallet, claim))));
    return answered.filter(isDone).length;
  }

  #claimFetch(): typeof fetch {
    return this.#options.fetch ?? separateFetch() ?? ((input, init) => fetch(input, init));
  }
}

/** In random order, so that the order of requests does not tell the order of payments. */
function shuffled<T>(list: readonly T[]): T[] {
  const keyed = list.map((value) => ({ value, key: Math.random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ value }) => value);
}
