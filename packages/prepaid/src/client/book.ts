import { hashText } from "@sotto/client";
import { bytesToHex, hexToBytes, message } from "@sotto/protocol";
import { Lock, type Store, type StoreChange } from "@sotto/wallet";
import {
  decodeSignedSchedule,
  encodeSignedSchedule,
  epochOf,
  PREPAID_KEY_BYTES,
  PREPAID_PACK_SIZES,
  type PrepaidKey,
  type PrepaidPackVersion,
  type PrepaidToken,
  prepaidKey,
  prepaidPackLabel,
  redeemsAt,
  redemptionOf,
  type SignedSchedule,
  scheduleDigest,
  signsAt,
} from "../index.ts";
import { PrepaidError } from "./errors.ts";
import { ChangeCounts, type HeldChange } from "./held-change.ts";
import { MeteredBook } from "./metered/book.ts";
import {
  type DemandRecord,
  type MirroredRecord,
  type OriginRecord,
  type PackRecord,
  put,
  type ShownRecord,
  type Stop,
  type StopReason,
  stoppedText,
} from "./records.ts";
import { type Conflict, findConflict, keysOf, type MerchantKey } from "./schedules.ts";
import type { PackTerms, UnsignedPack } from "./unsigned-pack.ts";
import { BatchWriter } from "./writer.ts";

const PACK = "prepaid/pack/";
const SIGNATURES = "prepaid-signatures/";
const CURSOR = "prepaid/cursor/";
const SHOWN = "prepaid/shown/";
const ORIGIN = "prepaid/origin/";
const SCHEDULE = "prepaid/schedule/";
const DEMAND = "prepaid/demand/";
const MIRRORED = "prepaid/mirrored/";

/** The keys of all records of a pack. */
const recordsOf = (id: string): readonly string[] => [PACK + id, SIGNATURES + id, CURSOR + id];
const shownKey = ({ pack, index }: ShownRecord): string => `${SHOWN}${pack}/${index}`;

/** How many tokens a server may fail to take after ambiguous failures before prepaid tokens stop at its origin. */
const MAX_LOST = 3;

export const keyOfPack = ({ modulus }: PackRecord): PrepaidKey => prepaidKey(BigInt(modulus));

/** The record of a pack whose tokens a key signs. */
export const packOf = (
  { origin, wallet, value, epoch, key }: MerchantKey,
  fields: Pick<PackRecord, "id" | "version" | "number" | "count" | "batch" | "created" | "state" | "change">,
): PackRecord => ({
  origin,
  wallet,
  keyId: key.id,
  modulus: `0x${key.modulus.toString(16)}`,
  value: String(value),
  epoch,
  proof: null,
  restored: false,
  ...fields,
});

/** Which tokens a stored pack has. */
export const termsOfPack = (record: PackRecord): PackTerms => ({
  origin: record.origin,
  key: keyOfPack(record),
  label: record.change?.label ?? prepaidPackLabel(record.origin, record.keyId, record.number),
  first: record.change?.first,
  count: record.count,
  version: versionOf(record),
});

/** Packs that were stored before there were versions have none: they are of version 1. */
export const versionOf = ({ version = 1 }: PackRecord): PrepaidPackVersion => version;

/** The sizes of packs that were ever bought, by version. They never change, because numbers depend on them. */
export const PACK_SIZES = { 1: [100, 1000], 2: PREPAID_PACK_SIZES } as const satisfies Record<
  PrepaidPackVersion,
  readonly number[]
>;

/** The id of a pack: the same numbers have the same tokens, so they have the same record. */
export const packId = (origin: string, keyId: string, number: number, version: PrepaidPackVersion): string =>
  hashText(`${origin} ${keyId} ${number}${version === 1 ? "" : ` ${version}`}`);

/** Which tokens may be taken. */
export interface TokenWish {
  readonly origin: string;
  /** Base units. */
  readonly value: bigint;
  /** Whether the token is for a metered route. Default: false. */
  readonly metered?: boolean | undefined;
  /** Only tokens of this merchant's wallet. Default: any. */
  readonly wallet?: string | undefined;
  /** Only change of this month and cap, for a swap. Default: any token. */
  readonly change?: { readonly epoch: string; readonly cap: string } | undefined;
}

/** A token that was taken in memory. */
export interface TakenToken {
  readonly pack: PackRecord;
  /** Its index in the pack. */
  readonly index: number;
  /** Marks the token as taken. */
  readonly change: StoreChange;
}

/**
 * The prepaid tokens in a wallet's store: pinned schedules and what mirrors keep of them, packs, and which tokens were shown. A process has one book
 * per store, so that a token is never shown to two requests.
 */
export class PrepaidBook {
  readonly #store: Store;
  readonly #writer: BatchWriter;
  readonly #packs = new Map<string, PackRecord>();
  /** The same packs by origin and value: a wallet may have hundreds, and each request takes a token of one value. */
  readonly #byValue = new Map<string, Map<string, PackRecord>>();
  readonly #change = new ChangeCounts();
  /** Ids of packs of change without a token that was not taken. */
  readonly #empty = new Set<string>();
  /** Number of tokens taken, by pack. */
  readonly #cursors = new Map<string, number>();
  readonly #shown = new Map<string, ShownRecord>();
  /** Shown tokens that a call is working on. */
  readonly #busy = new Set<string>();
  readonly #origins = new Map<string, OriginRecord>();
  readonly #demands = new Map<string, DemandRecord>();
  readonly #mirrored = new Map<string, MirroredRecord>();
  #schedules: SignedSchedule[] = [];
  /** The keys of the pinned schedules by origin, once they are asked for. */
  readonly #keys = new Map<string, readonly MerchantKey[]>();
  readonly #tokens = new Map<string, Promise<readonly PrepaidToken[]>>();
  readonly #locks = new Map<string, Lock>();
  /** Requests of metered routes, with the terms and swaps. */
  readonly metered = new MeteredBook((...changes) => this.#writer.write(...changes));

  private constructor(store: Store) {
    this.#store = store;
    this.#writer = new BatchWriter(store);
  }

  static async open(store: Store): Promise<PrepaidBook> {
    const book = new PrepaidBook(store);
    const read = async <T>(prefix: string, take: (value: T, key: string) => void) => {
      for (const { key, value } of await store.list(prefix)) take(value as unknown as T, key);
    };
    await read<PackRecord>(PACK, (record) => book.#setPack(record));
    await read<number>(CURSOR, (taken, key) => book.#cursors.set(key.slice(CURSOR.length), taken));
    await read<ShownRecord>(SHOWN, (record, key) => book.#shown.set(key, record));
    await read<OriginRecord>(ORIGIN, (record) => book.#origins.set(record.origin, record));
    await read<DemandRecord>(DEMAND, (record, key) => book.#demands.set(key, record));
    await read<MirroredRecord>(MIRRORED, (record) => book.#mirrored.set(mirroredKey(record), record));
    await read<unknown>(SCHEDULE, (value) => book.#schedules.push(decodeSignedSchedule(value)));
    await book.metered.load(store);
    // Only now it is known how many of their tokens were taken.
    for (const pack of book.#packs.values()) book.#count(pack);
    return book;
  }

  #setPack(pack: PackRecord): void {
    this.#packs.set(pack.id, pack);
    const name = valueName(pack);
    const packs = this.#byValue.get(name) ?? new Map<string, PackRecord>();
    this.#byValue.set(name, packs.set(pack.id, pack));
    this.#count(pack);
  }

  #deletePack(id: string): void {
    const pack = this.#packs.get(id);
    if (pack !== undefined) this.#byValue.get(valueName(pack))?.delete(id);
    this.#packs.delete(id);
    this.#change.forget(id);
    this.#empty.delete(id);
  }

  /** Counts the tokens of a pack after each change of its record or cursor. */
  #count(pack: PackRecord): void {
    const left = this.left(pack);
    this.#change.note(pack, pack.state === "ready" ? left : 0);
    if (pack.change !== undefined && left === 0) this.#empty.add(pack.id);
  }

  /** All packs, oldest first. */
  packs(origin?: string): PackRecord[] {
    return [...this.#packs.values()].filter((pack) => origin === undefined || pack.origin === origin).sort(compareAge);
  }

  /** The change at an origin that can be shown, of all months. */
  changeAt(origin: string): readonly HeldChange[] {
    return this.#change.at(origin);
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

  /**
   * Value of the tokens at an origin that were paid for or are being bought, and not shown, with those whose change or swap has
   * not arrived. Base units.
   */
  unspent(origin: string, now: number): bigint {
    const alive = this.packs(origin).filter(({ epoch }) => redeemsAt(epoch, now));
    const held = alive.reduce((sum, pack) => sum + BigInt(pack.value) * BigInt(this.left(pack)), 0n);
    return held + this.metered.underway(origin);
  }

  /** How many tokens can be taken now. */
  available(wish: TokenWish, now: number): number {
    return this.#usable(wish, now).reduce((sum, pack) => sum + this.left(pack), 0);
  }

  /** Those of the earlier month first: they end first, and many payers spend them at the start of a month. */
  #usable({ origin, value, metered = false, wallet, change }: TokenWish, now: number): PackRecord[] {
    return [...(this.#byValue.get(valueName({ origin, value: String(value) }))?.values() ?? [])]
      .filter((pack) => pack.state === "ready" && this.left(pack) > 0 && (!metered || versionOf(pack) === 2))
      .filter((pack) => wallet === undefined || pack.wallet === wallet)
      .filter((pack) => change === undefined || (pack.epoch === change.epoch && pack.change?.cap === change.cap))
      .filter((pack) => redeemsAt(pack.epoch, now))
      .sort((a, b) => (a.epoch < b.epoch ? -1 : a.epoch > b.epoch ? 1 : compareAge(a, b)));
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
    this.#keys.clear();
  }

  /** The pinned keys of an origin. */
  keys(origin: string): readonly MerchantKey[] {
    const keys = this.#keys.get(origin) ?? keysOf(this.schedules(origin));
    this.#keys.set(origin, keys);
    return keys;
  }

  /** The pinned schedules of an origin. */
  schedules(origin: string): SignedSchedule[] {
    return this.#schedules.filter(({ schedule }) => schedule.origin === origin);
  }

  /** Whether a mirror keeps a key or terms: it never replaces them, so they need not be compared again. */
  isMirrored(mirror: string, id: string): boolean {
    return this.#mirrored.has(mirroredKey({ mirror, id }));
  }

  /** Records what mirrors keep. */
  async putMirrored(records: readonly MirroredRecord[]): Promise<void> {
    await this.#writer.write(...records.map((record) => put(mirroredKey(record), record)));
    for (const record of records) this.#mirrored.set(mirroredKey(record), record);
  }

  /** Stops prepaid tokens at an origin and keeps the evidence. @returns the error to throw */
  async stopForConflict(origin: string, { first, second, value, epoch }: Conflict, now: number): Promise<PrepaidError> {
    const text = `${origin} has two keys for the value ${value} in ${epoch}: it could recognize its payers by them`;
    const evidence = [first, second].map(encodeSignedSchedule);
    return this.stop(origin, { code: "PREPAID_KEY_CONFLICT", message: text, evidence }, now);
  }

  /**
   * Stops prepaid tokens at an origin until the owner decides.
   * @param write applies the changes with others
   * @returns the error to throw
   */
  async stop(
    origin: string,
    reason: StopReason,
    now: number,
    write: (changes: readonly StoreChange[]) => Promise<void> = (changes) => this.write(...changes),
  ): Promise<PrepaidError> {
    // The first reason stays: later ones may be its consequences.
    const isFirst = this.origin(origin).stopped === null;
    const stopped: Stop = { evidence: [], ...reason, at: now };
    await write(isFirst ? [this.#setOrigin({ ...this.origin(origin), stopped })] : []);
    return new PrepaidError(stopped.code, stoppedText(stopped), { origin });
  }

  /** @throws PrepaidError PREPAID_STOPPED if prepaid tokens are stopped at the origin */
  assertNotStopped(origin: string): void {
    const { stopped } = this.origin(origin);
    if (stopped === null) return;
    throw new PrepaidError(
      "PREPAID_STOPPED",
      message`prepaid tokens are stopped at ${origin} until you decide: ${{ parts: stoppedText(stopped) }}`,
      { origin, reason: stopped.code },
    );
  }

  /** Counts a token that the server says it does not know, and stops at its origin after too many. @returns what to write */
  countLost(origin: string, now: number): StoreChange {
    const record = this.origin(origin);
    const lost = record.lost + 1;
    const text = `${origin} says of ${MAX_LOST} tokens that it does not know them: it may have served their requests`;
    const stop: Stop = { code: "PREPAID_TOKEN_REFUSED", message: text, at: now, evidence: [] };
    return this.#setOrigin({ ...record, lost, stopped: record.stopped ?? (lost >= MAX_LOST ? stop : null) });
  }

  /** The server knows a token now that it was asked for in vain so many times. @returns what to write */
  countFound(origin: string, times: number): readonly StoreChange[] {
    const record = this.origin(origin);
    return times === 0 ? [] : [this.#setOrigin({ ...record, lost: Math.max(0, record.lost - times) })];
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
      this.#setPack(dropped);
      // The record stays: its number must not be used again while the key signs.
      return [put(PACK + pack.id, dropped), { delete: SIGNATURES + pack.id }];
    });
    const tokens = [...this.#shown].filter(([, { pack }]) => this.#packs.get(pack)?.origin === origin);
    for (const [key] of tokens) this.#shown.delete(key);
    const deleted = tokens.map(([key]): StoreChange => ({ delete: key }));
    await this.#writer.write(...changes, ...deleted, ...this.metered.forget(origin));
    return value;
  }

  #putOrigin(record: OriginRecord): Promise<void> {
    return this.#writer.write(this.#setOrigin(record));
  }

  #setOrigin(record: OriginRecord): StoreChange {
    this.#origins.set(record.origin, record);
    return put(ORIGIN + hashText(record.origin), record);
  }

  /**
   * The number of the next pack of a key and size. Each size has numbers of its own, so that no pack repeats the tokens
   * of one of the other size, and a restored wallet can look for the packs of one size.
   */
  nextNumber(origin: string, keyId: string, count: number, version: PrepaidPackVersion): number {
    const sizes: readonly number[] = PACK_SIZES[version];
    const same = this.packs(origin).filter(
      (pack) =>
        pack.change === undefined && pack.keyId === keyId && pack.count === count && versionOf(pack) === version,
    );
    return same.length * sizes.length + sizes.indexOf(count);
  }

  /** Writes a pack's record. */
  async putPack(record: PackRecord): Promise<PackRecord> {
    await this.#writer.write(put(PACK + record.id, record));
    this.#setPack(record);
    return record;
  }

  /** Deletes a pack for which nothing was or will be paid. Its number is used again. */
  async forget({ id }: PackRecord): Promise<void> {
    this.#deletePack(id);
    await this.#writer.write({ delete: PACK + id });
  }

  /** Stores the verified blind signatures of a pack, and with them its tokens. */
  async putSignatures(pack: PackRecord, signatures: Uint8Array): Promise<PackRecord> {
    const ready: PackRecord = { ...pack, state: "ready" };
    const origin = this.origin(pack.origin);
    const counted = { ...origin, packs: origin.packs + (pack.count > 1 ? 1 : 0) };
    await this.#writer.write(
      put(PACK + pack.id, ready),
      { put: SIGNATURES + pack.id, value: bytesToHex(signatures) },
      put(ORIGIN + hashText(pack.origin), counted),
    );
    this.#setPack(ready);
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
    const forgotten = this.metered.prune(now);
    const inUse = this.metered.inUse("");
    const over = this.packs().filter(
      // A pack that was paid and never signed stays as evidence.
      ({ id, state, epoch }) => !inUse.has(id) && state !== "paid" && epoch < epochOf(now) && !redeemsAt(epoch, now),
    );
    const ids = new Set(over.map(({ id }) => id));
    const tokens = [...this.#shown].filter(([, { pack }]) => ids.has(pack)).map(([key]) => key);
    const mirrored = [...this.#mirrored].filter(([, { epoch }]) => redemptionOf(epoch)[1] <= now).map(([key]) => key);
    for (const id of ids) this.#forgetPack(id);
    for (const key of tokens) this.#shown.delete(key);
    for (const key of mirrored) this.#mirrored.delete(key);
    const deleted = [...[...ids].flatMap(recordsOf), ...tokens, ...mirrored].map(
      (key): StoreChange => ({ delete: key }),
    );
    if (deleted.length + forgotten.length > 0) await this.#writer.write(...forgotten, ...deleted);
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
    const token = this.takeNext(terms, now);
    if (token === undefined) return undefined;
    const shown: ShownRecord = { pack: token.pack.id, index: token.index, request: terms.request, at: now };
    const key = shownKey(shown);
    this.#shown.set(key, shown);
    const release = this.acquire(shown);
    await this.#writer.write(token.change, put(key, shown)).catch((error: unknown) => {
      release();
      throw error;
    });
    return { shown, release };
  }

  /** The pack whose token would be taken next; undefined if there is none. */
  nextToken(wish: TokenWish, now: number): PackRecord | undefined {
    return this.#usable(wish, now)[0];
  }

  /**
   * Takes a fresh token in memory. The caller journals what it is for and calls `write` with the change before it awaits anything:
   * otherwise a later change of the same pack is written first.
   * @returns undefined if there is none
   */
  takeNext(wish: TokenWish, now: number): TakenToken | undefined {
    const pack = this.#usable(wish, now)[0];
    if (pack === undefined) return undefined;
    const index = this.nextIndex(pack);
    const taken = (this.#cursors.get(pack.id) ?? 0) + 1;
    this.#cursors.set(pack.id, taken);
    this.#count(pack);
    return { pack, index, change: { put: CURSOR + pack.id, value: taken } };
  }

  /** Marks all tokens of packs as taken that were taken in memory. */
  takenOf(packs: readonly string[]): readonly StoreChange[] {
    return [...new Set(packs)].map((id): StoreChange => ({ put: CURSOR + id, value: this.#cursors.get(id) ?? 0 }));
  }

  /** The index of the token of a pack that is taken next. */
  nextIndex({ id, count, restored }: PackRecord): number {
    const taken = this.#cursors.get(id) ?? 0;
    return restored ? count - 1 - taken : taken;
  }

  /**
   * Stores tokens of change with other changes of the same step, and deletes packs of change that are spent.
   * @param packs with their verified blind signatures and their tokens
   * @param inUse ids of packs that open records still need
   */
  async putChange(
    packs: readonly {
      readonly record: PackRecord;
      readonly signatures: Uint8Array;
      readonly tokens: readonly PrepaidToken[];
    }[],
    changes: readonly StoreChange[],
    inUse: ReadonlySet<string>,
  ): Promise<void> {
    const shown = new Set([...this.#shown.values()].map(({ pack }) => pack));
    const spent = [...this.#empty].filter((id) => !shown.has(id) && !inUse.has(id));
    const added = packs.flatMap(({ record, signatures }): StoreChange[] => [
      put(PACK + record.id, record),
      { put: SIGNATURES + record.id, value: bytesToHex(signatures) },
    ]);
    const ended = spent.flatMap((id) => recordsOf(id).map((key): StoreChange => ({ delete: key })));
    await this.#writer.write(...changes, ...added, ...ended);
    for (const id of spent) this.#forgetPack(id);
    for (const { record, tokens } of packs) {
      this.#setPack(record);
      this.#tokens.set(record.id, Promise.resolve(tokens));
    }
  }

  #forgetPack(id: string): void {
    this.#deletePack(id);
    this.#cursors.delete(id);
    this.#tokens.delete(id);
  }

  /** Writes changes of another part of the book. They are applied together. */
  write(...changes: StoreChange[]): Promise<void> {
    return this.#writer.write(...changes);
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
    const error = (text: string) =>
      new PrepaidError("PREPAID_TOKEN_REFUSED", text, { origin: pack?.origin ?? "", reason });
    if (pack?.restored === true) {
      await this.endRestored(pack.id, ...changes);
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
    return this.stop(origin, { code: "PREPAID_TOKEN_REFUSED", message: why, reason }, now);
  }

  /** The rest of a restored pack was shown before the wallet was restored. @param others written with it */
  async endRestored(id: string, ...others: readonly StoreChange[]): Promise<void> {
    const pack = this.#packs.get(id);
    if (pack !== undefined) {
      this.#cursors.set(id, pack.count);
      this.#count(pack);
    }
    const ended = pack === undefined ? [] : [{ put: CURSOR + id, value: pack.count }];
    await this.#writer.write(...others, ...ended);
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
    const text = `a 402 of ${offer.origin} names a second key for the value ${offer.value} in ${epoch}`;
    await this.stop(offer.origin, { code: "PREPAID_KEY_CONFLICT", message: text }, now);
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

const valueName = ({ origin, value }: Pick<PackRecord, "origin" | "value">): string => `${value} ${origin}`;

const compareAge = (a: PackRecord, b: PackRecord): number => a.created - b.created || a.number - b.number;

const mirroredKey = ({ mirror, id }: Pick<MirroredRecord, "mirror" | "id">): string =>
  MIRRORED + hashText(`${mirror} ${id}`);

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
