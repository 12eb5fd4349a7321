import { hashText } from "@sotto/client";
import { bytesToHex, hexToBytes } from "@sotto/protocol";
import { Lock, type Store, type StoreChange, type StoreValue } from "@sotto/wallet";
import {
  decodeSignedSchedule,
  encodeSignedSchedule,
  epochOf,
  PREPAID_KEY_BYTES,
  PREPAID_PACK_SIZES,
  type PrepaidKey,
  type PrepaidToken,
  prepaidKey,
  redeemsAt,
  type SignedSchedule,
  scheduleDigest,
  signsAt,
} from "../index.ts";
import { PrepaidError } from "./errors.ts";
import {
  type DemandRecord,
  type OriginRecord,
  type PackRecord,
  type ShownRecord,
  type Stop,
  stoppedText,
} from "./records.ts";
import { type Conflict, findConflict, keysOf, type MerchantKey } from "./schedules.ts";
import type { UnsignedPack } from "./unsigned-pack.ts";
import { BatchWriter } from "./writer.ts";

const PACK = "prepaid/pack/";
const SIGNATURES = "prepaid-signatures/";
const CURSOR = "prepaid/cursor/";
const SHOWN = "prepaid/shown/";
const ORIGIN = "prepaid/origin/";
const SCHEDULE = "prepaid/schedule/";
const DEMAND = "prepaid/demand/";

const shownKey = ({ pack, index }: ShownRecord): string => `${SHOWN}${pack}/${index}`;
/** Records are JSON; their interfaces lack the index signature that StoreValue requires. */
const toValue = (record: object): StoreValue => record as unknown as StoreValue;
const put = (key: string, record: object): StoreChange => ({ put: key, value: toValue(record) });

/** How many tokens a server may fail to take after ambiguous failures before prepaid tokens stop at its origin. */
const MAX_LOST = 3;

export const keyOfPack = ({ modulus }: PackRecord): PrepaidKey => prepaidKey(BigInt(modulus));

/** The id of a pack: the same numbers have the same tokens, so they have the same record. */
export const packId = (origin: string, keyId: string, number: number): string =>
  hashText(`${origin} ${keyId} ${number}`);

/**
 * The prepaid tokens in a wallet's store: pinned schedules, packs, and which tokens were shown. A process has one book
 * per store, so that a token is never shown to two requests.
 */
export class PrepaidBook {
  readonly #store: Store;
  readonly #writer: BatchWriter;
  readonly #packs = new Map<string, PackRecord>();
  /** Number of tokens taken, by pack. */
  readonly #cursors = new Map<string, number>();
  readonly #shown = new Map<string, ShownRecord>();
  /** Shown tokens that a call is working on. */
  readonly #busy = new Set<string>();
  readonly #origins = new Map<string, OriginRecord>();
  readonly #demands = new Map<string, DemandRecord>();
  #schedules: SignedSchedule[] = [];
  readonly #tokens = new Map<string, Promise<readonly PrepaidToken[]>>();
  readonly #locks = new Map<string, Lock>();

  private constructor(store: Store) {
    this.#store = store;
    this.#writer = new BatchWriter(store);
  }

  static async open(store: Store): Promise<PrepaidBook> {
    const book = new PrepaidBook(store);
    const read = async <T>(prefix: string, take: (value: T, key: string) => void) => {
      for (const { key, value } of await store.list(prefix)) take(value as unknown as T, key);
    };
    await read<PackRecord>(PACK, (record) => book.#packs.set(record.id, record));
    await read<number>(CURSOR, (taken, key) => book.#cursors.set(key.slice(CURSOR.length), taken));
    await read<ShownRecord>(SHOWN, (record, key) => book.#shown.set(key, record));
    await read<OriginRecord>(ORIGIN, (record) => book.#origins.set(record.origin, record));
    await read<DemandRecord>(DEMAND, (record, key) => book.#demands.set(key, record));
    await read<unknown>(SCHEDULE, (value) => book.#schedules.push(decodeSignedSchedule(value)));
    return book;
  }

  /** All packs, oldest first. */
  packs(origin?: string): PackRecord[] {
    const all = [...this.#packs.values()].filter((pack) => origin === undefined || pack.origin === origin);
    return all.sort((a, b) => a.created - b.created || a.number - b.number);
  }

  pack(id: string): PackRecord | undefined {
    return this.#packs.get(id);
  }

  /** All origins with packs or a stop. */
  origins(): string[] {
    return [...new Set([...this.#origins.keys(), ...[...this.#packs.values()].map(({ origin }) => origin)])].sort();
  }

  origin(origin: string): OriginRecord {
    return this.#origins.get(origin) ?? { origin, stopped: null, packs: 0, lost: 0 };
  }

  /** Tokens of a pack that were not shown yet; all of them before its signatures arrived. */
  left({ id, count, state }: PackRecord): number {
    return state === "void" || state === "dropped" ? 0 : count - (this.#cursors.get(id) ?? 0);
  }

  /** Value of the tokens at an origin that were paid for or are being bought, and not shown. Base units. */
  unspent(origin: string, now: number): bigint {
    const alive = this.packs(origin).filter(({ epoch }) => redeemsAt(epoch, now));
    return alive.reduce((sum, pack) => sum + BigInt(pack.value) * BigInt(this.left(pack)), 0n);
  }

  /** Tokens of this value that can be shown now. */
  available(origin: string, value: bigint, now: number): number {
    return this.#usable(origin, value, now).reduce((sum, pack) => sum + this.left(pack), 0);
  }

  #usable(origin: string, value: bigint, now: number): PackRecord[] {
    return this.packs(origin)
      .filter((pack) => pack.state === "ready" && pack.value === String(value) && redeemsAt(pack.epoch, now))
      .filter((pack) => this.left(pack) > 0)
      .sort((a, b) => (a.epoch < b.epoch ? -1 : a.epoch > b.epoch ? 1 : 0));
  }

  /**
   * Compares schedules with the pinned ones and pins them. A key that was seen once stays the key of its value and
   * epoch forever.
   * @throws PrepaidError PREPAID_KEY_CONFLICT, after prepaid tokens were stopped at the origin
   */
  async pin(origin: string, schedules: readonly SignedSchedule[], now: number): Promise<void> {
    const conflict = findConflict([...this.#schedules, ...schedules]);
    if (conflict !== undefined) throw await this.stopForConflict(origin, conflict, now);
    const nameOf = ({ wallet, value, epoch, key }: MerchantKey) => `${wallet} ${value} ${epoch} ${key.id}`;
    const known = new Set(this.keys(origin).map(nameOf));
    const news = schedules.filter((signed) => keysOf([signed]).some((key) => !known.has(nameOf(key))));
    if (news.length === 0) return;
    const changes = news.map((signed) =>
      put(`${SCHEDULE}${scheduleDigest(signed.schedule)}`, encodeSignedSchedule(signed)),
    );
    await this.#writer.write(...changes);
    this.#schedules = [...this.#schedules, ...news];
  }

  /** The pinned keys of an origin. */
  keys(origin: string): MerchantKey[] {
    return keysOf(this.#schedules).filter((key) => key.origin === origin);
  }

  /** Stops prepaid tokens at an origin and keeps the evidence. @returns the error to throw */
  async stopForConflict(origin: string, { first, second, value, epoch }: Conflict, now: number): Promise<PrepaidError> {
    const message = `${origin} has two keys for the value ${value} in ${epoch}: it could recognize its payers by them`;
    const evidence = [first, second].map(encodeSignedSchedule);
    return this.stop(origin, { code: "PREPAID_KEY_CONFLICT", message, at: now, evidence });
  }

  /** Stops prepaid tokens at an origin until the owner decides. @returns the error to throw */
  async stop(origin: string, stopped: Stop): Promise<PrepaidError> {
    // The first reason stays: later ones may be its consequences.
    if (this.origin(origin).stopped === null) await this.#putOrigin({ ...this.origin(origin), stopped });
    return new PrepaidError(stopped.code, stoppedText(stopped), { origin });
  }

  /** Allows prepaid tokens at an origin again. */
  async resume(origin: string): Promise<void> {
    await this.#putOrigin({ ...this.origin(origin), stopped: null, lost: 0 });
  }

  /** Gives up all tokens at an origin. @returns their unspent value, base units */
  async drop(origin: string, now: number): Promise<bigint> {
    const value = this.unspent(origin, now);
    const changes = this.packs(origin).flatMap((pack): StoreChange[] => {
      const dropped: PackRecord = { ...pack, state: "dropped" };
      this.#packs.set(pack.id, dropped);
      // The record stays: its number must not be used again while the key signs.
      return [put(PACK + pack.id, dropped), { delete: SIGNATURES + pack.id }];
    });
    const tokens = [...this.#shown].filter(([, { pack }]) => this.#packs.get(pack)?.origin === origin);
    for (const [key] of tokens) this.#shown.delete(key);
    await this.#writer.write(...changes, ...tokens.map(([key]): StoreChange => ({ delete: key })));
    return value;
  }

  #putOrigin(record: OriginRecord): Promise<void> {
    this.#origins.set(record.origin, record);
    return this.#writer.write(put(ORIGIN + hashText(record.origin), record));
  }

  /**
   * The number of the next pack of a key and size. Each size has numbers of its own, so that no pack repeats the tokens
   * of one of the other size, and a restored wallet can look for the packs of one size.
   */
  nextNumber(origin: string, keyId: string, count: number): number {
    const same = this.packs(origin).filter((pack) => pack.keyId === keyId && pack.count === count);
    return same.length * PREPAID_PACK_SIZES.length + (PREPAID_PACK_SIZES as readonly number[]).indexOf(count);
  }

  /** Writes a pack's record. */
  async putPack(record: PackRecord): Promise<PackRecord> {
    await this.#writer.write(put(PACK + record.id, record));
    this.#packs.set(record.id, record);
    return record;
  }

  /** Deletes a pack for which nothing was or will be paid. Its number is used again. */
  async forget({ id }: PackRecord): Promise<void> {
    this.#packs.delete(id);
    await this.#writer.write({ delete: PACK + id });
  }

  /** Stores the verified blind signatures of a pack, and with them its tokens. */
  async putSignatures(pack: PackRecord, signatures: Uint8Array): Promise<PackRecord> {
    const ready: PackRecord = { ...pack, state: "ready" };
    const origin = this.origin(pack.origin);
    const counted = { ...origin, packs: origin.packs + 1 };
    await this.#writer.write(
      put(PACK + pack.id, ready),
      { put: SIGNATURES + pack.id, value: bytesToHex(signatures) },
      put(ORIGIN + hashText(pack.origin), counted),
    );
    this.#packs.set(pack.id, ready);
    this.#origins.set(pack.origin, counted);
    return ready;
  }

  /** The blind signatures of a pack. */
  async signatures({ id, count }: PackRecord): Promise<Uint8Array> {
    return hexToBytes((await this.#store.get(SIGNATURES + id))?.value, count * PREPAID_KEY_BYTES, "signatures");
  }

  /**
   * Deletes packs whose tokens are no longer accepted. Their numbers are not needed any more.
   * @param now a time that has passed for certain, ms: deleted tokens are lost. 0 if none is known yet
   */
  async prune(now: number): Promise<void> {
    if (now === 0) return;
    const over = this.packs().filter(
      // A pack that was paid and never signed stays as evidence.
      ({ state, epoch }) => state !== "paid" && epoch < epochOf(now) && !redeemsAt(epoch, now),
    );
    if (over.length === 0) return;
    const ids = new Set(over.map(({ id }) => id));
    const tokens = [...this.#shown].filter(([, { pack }]) => ids.has(pack)).map(([key]) => key);
    for (const id of ids) this.#packs.delete(id);
    for (const key of tokens) this.#shown.delete(key);
    for (const id of ids) this.#tokens.delete(id);
    const keys = [...ids].flatMap((id) => [PACK + id, SIGNATURES + id, CURSOR + id]);
    await this.#writer.write(...[...keys, ...tokens].map((key): StoreChange => ({ delete: key })));
  }

  /** The token that was shown with an equal, unfinished request, if no other call is working on it. */
  shownTo(request: string): ShownRecord | undefined {
    return [...this.#shown.values()].find((shown) => shown.request === request && !this.#busy.has(shownKey(shown)));
  }

  /** Acquires a shown token for a call. Nothing is awaited between `shownTo` and this. */
  acquire(shown: ShownRecord): () => void {
    const key = shownKey(shown);
    this.#busy.add(key);
    return () => this.#busy.delete(key);
  }

  /**
   * Takes a fresh token for a request and durably marks it as shown. The caller releases it when its call ends.
   * @returns undefined if there is none
   */
  async take(
    terms: { origin: string; value: bigint; request: string },
    now: number,
  ): Promise<{ shown: ShownRecord; release: () => void } | undefined> {
    const pack = this.#usable(terms.origin, terms.value, now)[0];
    if (pack === undefined) return undefined;
    const taken = this.#cursors.get(pack.id) ?? 0;
    const index = pack.restored ? pack.count - 1 - taken : taken;
    const shown: ShownRecord = { pack: pack.id, index, request: terms.request, at: now };
    const key = shownKey(shown);
    // The token is marked in memory first, so that no other call takes it during the write.
    this.#cursors.set(pack.id, taken + 1);
    this.#shown.set(key, shown);
    const release = this.acquire(shown);
    await this.#writer.write({ put: CURSOR + pack.id, value: taken + 1 }, put(key, shown)).catch((error: unknown) => {
      release();
      throw error;
    });
    return { shown, release };
  }

  /** Records that the server answered the request of a shown token, which is never shown again. */
  async answered(shown: ShownRecord): Promise<void> {
    this.#shown.delete(shownKey(shown));
    await this.#writer.write({ delete: shownKey(shown) });
  }

  /**
   * Records that the server refused a token for good.
   * @param fresh whether the token had never been sent before
   * @returns the error to throw
   */
  async refused(shown: ShownRecord, fresh: boolean, reason: string, now: number): Promise<PrepaidError> {
    const pack = this.#packs.get(shown.pack);
    this.#shown.delete(shownKey(shown));
    const changes: StoreChange[] = [{ delete: shownKey(shown) }];
    const error = (message: string) =>
      new PrepaidError("PREPAID_TOKEN_REFUSED", message, { origin: pack?.origin ?? "", reason });
    if (pack?.restored === true) {
      // The rest of the pack was shown before the wallet was restored.
      this.#cursors.set(pack.id, pack.count);
      await this.#writer.write(...changes, { put: CURSOR + pack.id, value: pack.count });
      return error(
        `${pack.origin} refuses a token of a restored pack, whose other tokens are used; repeat the request`,
      );
    }
    await this.#writer.write(...changes);
    if (pack === undefined) return error("the token's pack was dropped");
    const { origin } = pack;
    const lost = this.origin(origin).lost + 1;
    if (!fresh && lost < MAX_LOST) {
      await this.#putOrigin({ ...this.origin(origin), lost });
      return error(
        `${origin} refuses a token whose first answer was lost: it may have served the request; nothing more was paid`,
      );
    }
    const why = `${origin} refuses a prepaid token; nothing more was paid; ${reason === "" ? "it gives no reason" : `its reason: ${reason}`}`;
    return this.stop(origin, { code: "PREPAID_TOKEN_REFUSED", message: why, reason, at: now, evidence: [] });
  }

  /**
   * Compares the key that a 402 names with the pinned keys, and stops at the origin if it is a second one.
   * @returns whether tokens may be shown
   */
  async acceptsOffer(
    offer: { origin: string; wallet: string; value: bigint; keyId: string },
    now: number,
  ): Promise<boolean> {
    const pinned = this.keys(offer.origin).filter((key) => key.wallet === offer.wallet && key.value === offer.value);
    // Around midnight, the server's epoch may differ from this clock's.
    if (pinned.some(({ key }) => key.id === offer.keyId)) return true;
    const epoch = pinned.find((key) => signsAt(key.epoch, now))?.epoch;
    if (epoch === undefined) return true;
    const message = `a 402 of ${offer.origin} names a second key for the value ${offer.value} in ${epoch}`;
    await this.stop(offer.origin, { code: "PREPAID_KEY_CONFLICT", message, at: now, evidence: [] });
    return false;
  }

  /** The tokens of a pack, derived once in this process. */
  tokens(pack: PackRecord, prepare: () => Promise<UnsignedPack>): Promise<readonly PrepaidToken[]> {
    let tokens = this.#tokens.get(pack.id);
    if (tokens === undefined) {
      tokens = this.signatures(pack).then(async (signatures) => (await prepare()).finish(signatures));
      tokens.catch(() => this.#tokens.delete(pack.id));
      this.#tokens.set(pack.id, tokens);
    }
    return tokens;
  }

  /** Runs actions at one origin one after the other. @param signal ends the wait for earlier ones */
  exclusively<T>(origin: string, action: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const lock = this.#locks.get(origin) ?? new Lock();
    this.#locks.set(origin, lock);
    return lock.run(action, signal);
  }

  demand(origin: string, value: bigint): DemandRecord {
    const none = { origin, value: String(value), paid: 0, due: null, level: 0 };
    return this.#demands.get(demandKey(none)) ?? none;
  }

  /** All values for which the purchase of the next pack is scheduled. */
  dues(): DemandRecord[] {
    return [...this.#demands.values()].filter(({ due }) => due !== null);
  }

  putDemand(record: DemandRecord): Promise<void> {
    this.#demands.set(demandKey(record), record);
    return this.#writer.write(put(demandKey(record), record));
  }
}

const demandKey = ({ origin, value }: DemandRecord): string => `${DEMAND}${hashText(`${origin} ${value}`)}`;

const books = new WeakMap<Store, Promise<PrepaidBook>>();

/** Returns the book of a store, always the same instance. */
export function prepaidBookOf(store: Store): Promise<PrepaidBook> {
  let book = books.get(store);
  if (book === undefined) {
    book = PrepaidBook.open(store);
    book.catch(() => books.delete(store));
    books.set(store, book);
  }
  return book;
}
