import { ChargeCounters, type SpendingLimits } from "@sotto/client";
import type { Store, StoreChange } from "@sotto/wallet";
import {
  decodeSignedTerms,
  encodeSignedTerms,
  laterEpoch,
  type MeteredRule,
  meteredRuleHash,
  meteredTermsDigest,
  redemptionOf,
  type SignedMeteredTerms,
  type TermsConflict,
  termsConflict,
} from "../../index.ts";
import { type ChargeRecord, type MeteredRecord, type MeteredState, put, type SwapRecord } from "../records.ts";

const METERED = "prepaid/metered/";
const SWAP = "prepaid/swap/";
const TERMS = "prepaid/terms/";
/** Charges are read when they are listed, so they are not below `prepaid/`. */
const CHARGE = "prepaid-charge/";

/** Whether the server may not have taken the token of a request. */
export const isUnclear = (state: MeteredState): boolean => state === "shown" || state === "unknown";

/** Two terms that contradict each other. */
export interface ConflictingTerms extends TermsConflict {
  readonly first: SignedMeteredTerms;
  readonly second: SignedMeteredTerms;
}

/**
 * The part of a wallet's prepaid tokens that belongs to metered routes: pinned terms, requests whose change has not arrived, and
 * swaps.
 */
export class MeteredBook {
  readonly #write: (...changes: StoreChange[]) => Promise<void>;
  readonly #requests = new Map<string, MeteredRecord>();
  readonly #swaps = new Map<string, SwapRecord>();
  /** By digest. */
  readonly #terms = new Map<string, SignedMeteredTerms>();
  readonly #running = new Map<string, Promise<unknown>>();
  /** Ids of the requests that a call is sending. */
  readonly sending = new Set<string>();
  /** Ids of the requests whose claims wait or run in this process. */
  readonly claiming = new Set<string>();
  /** Ids of the swaps that run. */
  readonly #swapping = new Set<string>();
  /** Ids of the swaps that are not in the store. */
  readonly #unwritten = new Set<string>();
  /** Whether the claims that an earlier process left open are resumed. */
  isResumed = false;
  #counters: ChargeCounters | undefined;

  /** @param write applies changes together */
  constructor(write: (...changes: StoreChange[]) => Promise<void>) {
    this.#write = write;
  }

  async load(store: Store): Promise<void> {
    const read = async <T>(prefix: string, take: (value: T) => void) => {
      for (const { value } of await store.list(prefix)) take(value as unknown as T);
    };
    await read<MeteredRecord>(METERED, (record) => this.#requests.set(record.id, record));
    await read<SwapRecord>(SWAP, (record) => this.#swaps.set(record.id, record));
    await read<unknown>(TERMS, (value) => this.#keep(decodeSignedTerms(value)));
    this.#counters = await ChargeCounters.open(store);
  }

  #keep(signed: SignedMeteredTerms): void {
    this.#terms.set(meteredTermsDigest(signed.terms), signed);
  }

  /** Runs an action for a request, or returns the one that runs already: two claims would ask for different tokens. */
  once<T>(id: string, action: () => Promise<T>): Promise<T> {
    const running = this.#running.get(id);
    if (running !== undefined) return running as Promise<T>;
    const begun = action().finally(() => this.#running.delete(id));
    this.#running.set(id, begun);
    return begun;
  }

  /** Requests whose change has not arrived, oldest first. */
  requests(origin?: string): MeteredRecord[] {
    const all = [...this.#requests.values()].filter((record) => origin === undefined || record.origin === origin);
    return all.sort((a, b) => a.at - b.at);
  }

  request(id: string): MeteredRecord | undefined {
    return this.#requests.get(id);
  }

  swaps(origin?: string): SwapRecord[] {
    return [...this.#swaps.values()].filter((swap) => origin === undefined || swap.origin === origin);
  }

  swap(id: string): SwapRecord | undefined {
    return this.#swaps.get(id);
  }

  /** Value of the tokens whose change or swap has not arrived, base units: at most this is outstanding. */
  underway(origin: string): bigint {
    const open = this.requests(origin).filter(({ state }) => state !== "refused");
    const caps = open.reduce((sum, { cap }) => sum + BigInt(cap), 0n);
    return this.swaps(origin).reduce((sum, { receive }) => sum + receive.reduce((s, v) => s + BigInt(v), 0n), caps);
  }

  /** Ids of the packs whose tokens may still be shown or swapped. @param except id of the request or swap that ends */
  inUse(except: string): Set<string> {
    const swaps = this.swaps().filter(({ id }) => id !== except);
    const requests = this.requests().filter(({ id, state }) => id !== except && isUnclear(state));
    return new Set([
      ...requests.map(({ pack }) => pack),
      ...swaps.flatMap(({ spend }) => spend.map(({ pack }) => pack)),
    ]);
  }

  /** All pinned terms. */
  allTerms(): SignedMeteredTerms[] {
    return [...this.#terms.values()];
  }

  /** The pinned terms of an origin. */
  terms(origin: string): SignedMeteredTerms[] {
    return this.allTerms().filter(({ terms }) => terms.origin === origin);
  }

  /** Pinned terms. @param digest hex with 0x */
  termsOf(digest: string): SignedMeteredTerms | undefined {
    return this.#terms.get(digest);
  }

  /** The rule of pinned terms with this hash. */
  rule(origin: string, hash: string): MeteredRule | undefined {
    const routes = this.terms(origin).flatMap(({ terms }) => terms.routes);
    return routes.find(({ rule }) => meteredRuleHash(rule) === hash)?.rule;
  }

  /** How terms whose signatures were checked contradict pinned ones, or each other. */
  contradiction(news: readonly SignedMeteredTerms[]): ConflictingTerms | undefined {
    const unknown = news.filter(({ terms }) => !this.#terms.has(meteredTermsDigest(terms)));
    const all = [...this.#terms.values(), ...unknown];
    for (const [i, second] of all.entries())
      for (const first of i < this.#terms.size ? [] : all.slice(0, i)) {
        const conflict = termsConflict(first.terms, second.terms);
        if (conflict !== undefined) return { ...conflict, first, second };
      }
    return undefined;
  }

  /** Pins terms whose signatures were checked, unless they contradict pinned ones. @returns the contradiction */
  async pin(news: readonly SignedMeteredTerms[]): Promise<ConflictingTerms | undefined> {
    const conflict = this.contradiction(news);
    if (conflict !== undefined) return conflict;
    const unknown = news.filter(({ terms }) => !this.#terms.has(meteredTermsDigest(terms)));
    if (unknown.length === 0) return undefined;
    await this.#write(
      ...unknown.map((signed) => put(TERMS + meteredTermsDigest(signed.terms), encodeSignedTerms(signed))),
    );
    for (const signed of unknown) this.#keep(signed);
    return undefined;
  }

  /**
   * Journals a request before its token is shown, and reserves its cap.
   * @param take takes the token, and returns the change that marks it as taken
   * @throws PurchaseError of a limit; no token is taken then
   */
  async begin(record: MeteredRecord, take: () => StoreChange, limits: SpendingLimits): Promise<void> {
    const reserved = this.#counters!.reserve(limits, BigInt(record.cap), record.place);
    const taken = take();
    // From now on, the token's pack is in use.
    this.#requests.set(record.id, record);
    try {
      await this.#counted(-BigInt(record.cap), record.place, () =>
        this.#write(taken, put(METERED + record.id, record), ...reserved),
      );
    } catch (error) {
      this.#requests.delete(record.id);
      throw error;
    }
  }

  /** Runs a write after a counter was lowered by an amount, and undoes that if the write fails. */
  async #counted(amount: bigint, place: MeteredRecord["place"], write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#counters!.lower(-amount, place);
      throw error;
    }
  }

  /** Checks the limits, as `begin` does. @throws PurchaseError of a limit */
  assertRoom(cap: bigint, place: MeteredRecord["place"], limits: SpendingLimits): void {
    this.#counters!.reserve(limits, cap, place);
    this.#counters!.lower(cap, place);
  }

  /** Base units that were charged or reserved on the day of a place. */
  charged(place: MeteredRecord["place"]): bigint {
    return this.#counters!.charged(place);
  }

  /** Writes the next step of a request, with other changes. Memory is never ahead of the store: a step that is not stored is not taken. */
  async update(record: MeteredRecord, ...others: readonly StoreChange[]): Promise<MeteredRecord> {
    await this.#write(put(METERED + record.id, record), ...others);
    this.#requests.set(record.id, record);
    return record;
  }

  /**
   * The server says that the token is not spent. This does not prove it, so the cap counts against the limits of its day.
   * @param others applied with it
   */
  unknown(record: MeteredRecord, ...others: readonly StoreChange[]): Promise<MeteredRecord> {
    return this.update({ ...record, state: "unknown" }, ...others);
  }

  /**
   * A token that the server did not know is shown again.
   * @param place that of the new request, whose limits count
   * @throws PurchaseError of a limit
   */
  async again(
    record: MeteredRecord,
    now: number,
    place: MeteredRecord["place"],
    limits: SpendingLimits,
  ): Promise<MeteredRecord> {
    const cap = BigInt(record.cap);
    const counted = record.reserved ? cap : 0n;
    const counters = this.#counters!;
    const lowered = counters.lower(counted, record.place);
    try {
      const reserved = counters.reserve(limits, cap, place);
      // The server's receipt has the month in which it took the token.
      const next: MeteredRecord = { ...record, state: "shown", reserved: true, place, at: now, askedAt: undefined };
      await this.#counted(-cap, place, () => this.#write(put(METERED + record.id, next), ...lowered, ...reserved));
      this.#requests.set(record.id, next);
      return next;
    } catch (error) {
      counters.lower(-counted, record.place);
      throw error;
    }
  }

  /**
   * Ends a request: its receipt is kept, and what was reserved beyond its charge is returned to the limits.
   * @param charged base units that count against the limits
   * @param write applies the changes with others
   */
  async end(
    record: MeteredRecord,
    charged: bigint,
    write: (changes: readonly StoreChange[]) => Promise<void>,
  ): Promise<void> {
    const amount = (record.reserved ? BigInt(record.cap) : 0n) - charged;
    const lowered = this.#counters!.lower(amount, record.place);
    await this.#counted(amount, record.place, () => write([...forgetting(record), ...lowered]));
    this.#requests.delete(record.id);
  }

  /** Acquires a swap at an origin that does not run. */
  resumeSwap(origin: string): SwapRecord | undefined {
    const swap = this.swaps(origin).find(({ id }) => !this.#swapping.has(id));
    if (swap === undefined) return undefined;
    this.#swapping.add(swap.id);
    // The next call resumes another one: a merchant may answer only some of them.
    this.#swaps.delete(swap.id);
    this.#swaps.set(swap.id, swap);
    return swap;
  }

  /** Acquires a new swap, whose tokens were just taken. The caller calls `journalSwap` before it awaits anything. */
  beginSwap(swap: SwapRecord): void {
    // From now on, the packs of its tokens are in use, also if it cannot be journaled.
    this.#swaps.set(swap.id, swap);
    this.#swapping.add(swap.id);
    this.#unwritten.add(swap.id);
  }

  /**
   * Journals a swap before it is sent, unless it is journaled. If that fails, the swap can be resumed.
   * @param taken marks its tokens as taken, and those of its packs that were taken later
   */
  async journalSwap({ id }: SwapRecord, taken: () => readonly StoreChange[]): Promise<void> {
    const swap = this.#swaps.get(id);
    if (swap === undefined || !this.#unwritten.has(id)) return;
    await this.#write(...taken(), put(SWAP + id, swap));
    this.#unwritten.delete(id);
  }

  /** Releases an acquired swap: it has ended, or can be resumed. */
  releaseSwap({ id }: SwapRecord): void {
    this.#swapping.delete(id);
  }

  /** Ends a swap. @param write applies the changes with others */
  async endSwap({ id }: SwapRecord, write: (changes: readonly StoreChange[]) => Promise<void>): Promise<void> {
    await write([{ delete: SWAP + id }]);
    this.#swaps.delete(id);
  }

  /** Gives up what has not arrived at an origin. @returns what to write */
  forget(origin: string): readonly StoreChange[] {
    return this.#forget((each) => each.origin === origin);
  }

  /**
   * Forgets requests and swaps whose change can no longer be signed.
   * @param now a time that has passed for certain, ms
   * @returns what to write
   */
  prune(now: number): readonly StoreChange[] {
    // Change of a token may be signed by the keys of the next month.
    return this.#forget(({ epoch }) => redemptionOf(laterEpoch(epoch, 1))[1] <= now);
  }

  #forget(isOver: (each: { readonly origin: string; readonly epoch: string }) => boolean): readonly StoreChange[] {
    // What convicts a merchant stays.
    const requests = this.requests().filter((each) => !each.proof?.receipts?.length && isOver(each));
    const swaps = this.swaps().filter(isOver);
    for (const { id } of requests) this.#requests.delete(id);
    for (const { id } of swaps) this.#swaps.delete(id);
    return [...requests.flatMap(forgetting), ...swaps.map(({ id }): StoreChange => ({ delete: SWAP + id }))];
  }
}

/** Deletes the record of a request. Its receipt, which was checked before it was stored, is kept. */
function forgetting({ id, receipt, terms, at }: MeteredRecord): readonly StoreChange[] {
  const charge: ChargeRecord | undefined = receipt === null ? undefined : { id, receipt, terms, at };
  return [{ delete: METERED + id }, ...(charge === undefined ? [] : [put(CHARGE + id, charge)])];
}

/** All charges, oldest first. */
export async function chargesIn(store: Store): Promise<ChargeRecord[]> {
  const records = (await store.list(CHARGE)).map(({ value }) => value as unknown as ChargeRecord);
  return records.sort((a, b) => a.at - b.at);
}
