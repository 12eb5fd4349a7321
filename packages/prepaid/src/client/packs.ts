import { delay } from "@sotto/chain";
import {
  assertSpendable,
  assertWithinLimit,
  FetchError,
  type PayingCore,
  type PayingWallet,
  type SpendingLimits,
} from "@sotto/client";
import { message, SottoError } from "@sotto/protocol";
import type { Answer } from "@sotto/wallet";
import { sha256 } from "ethers";
import {
  epochOf,
  PREPAID_KEY_BYTES,
  PREPAID_PACK_SIZES,
  PREPAID_RECOVER_PATH,
  type PrepaidPackVersion,
  prepaidPackLabel,
  prepaidPurchaseTarget,
  prepaidRecoverTarget,
  redeemsAt,
  signsAt,
} from "../index.ts";
import { ask, reasonOf, saidIn } from "./ask.ts";
import { PACK_SIZES, type PrepaidBook, packId, packOf, termsOfPack } from "./book.ts";
import { PrepaidError } from "./errors.ts";
import { compareWithMirrors } from "./mirrors.ts";
import type { PrepaidSettings } from "./options.ts";
import type { PackRecord } from "./records.ts";
import { type MerchantKey, merchantSchedules, scheduleComparison } from "./schedules.ts";
import { type UnsignedPack, unsignedPack } from "./unsigned-pack.ts";

/** The value for which tokens are bought, at an origin. */
export interface PackWish {
  /** Origin of the merchant. */
  readonly origin: string;
  /** Base units of each token. */
  readonly value: bigint;
  /** How many tokens, for a single one. Default: 100, and 1000 once the merchant has delivered a pack. */
  readonly count?: 1 | undefined;
  /** Aborts the requests that compare the merchant's keys. */
  readonly signal?: AbortSignal | undefined;
}

/** How a wallet that was restored looks for its packs. */
export interface RestoreOptions {
  /** Aborts the search. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called after every ten packs: whether to look for more. A merchant that signs every pack it is asked for would never
   * end the search. Default: the search ends after ten packs, and the next call finds the others.
   */
  readonly confirmMore?: ((found: number) => boolean | Promise<boolean>) | undefined;
}

/** Packs that a search finds before it asks whether to look for more. */
const PACKS_UNASKED = 10;
const TIMEOUT_MS = 120_000;
const OCTETS = { "content-type": "application/octet-stream" } as const;
/** How often the recover endpoint is asked in one call, while it answers that it needs more time. */
const TRIES = 4;
const MAX_PAUSE_MS = 10_000;
/** The merchant cannot answer now. */
const PASSING = [409, 425, 429, 500, 502, 503, 504];

/** A pack with its unsigned tokens. */
interface Prepared {
  readonly record: PackRecord;
  readonly pack: UnsignedPack;
}

/** Buys packs and collects their signatures, and resumes after a crash at any step. */
export class Packs {
  readonly #core: PayingCore;
  readonly #wallet: PayingWallet;
  readonly #book: PrepaidBook;
  readonly #settings: PrepaidSettings;

  constructor(core: PayingCore, book: PrepaidBook, settings: PrepaidSettings) {
    this.#core = core;
    this.#wallet = core.wallet;
    this.#book = book;
    this.#settings = settings;
  }

  /**
   * Buys a pack, or finishes one that was begun. One purchase at a time runs for an origin, so that its cap counts all.
   * @throws PrepaidError; FetchError FETCH_OPTION_INVALID for a dispatcher; the errors of a payment
   */
  buy(wish: PackWish): Promise<PackRecord> {
    return this.#book.exclusively(wish.origin, () => this.#buy(wish), wish.signal);
  }

  async #buy(wish: PackWish): Promise<PackRecord> {
    const { origin, value, count, signal } = wish;
    this.#settings.assertNoDispatcher();
    this.#book.assertNotStopped(origin);
    await this.#book.prune(this.#wallet.pastTime());
    const fits = (pack: PackRecord) => pack.value === String(value) && (count === undefined || pack.version === 2);
    const open = this.#book.packs(origin).find((pack) => fits(pack) && this.#isOpen(pack));
    if (open !== undefined) return this.#finish(open, signal);
    const key = await this.#checkedKey(wish);
    const prepared = await this.#prepareNext(key, await this.#chooseCount(key, count));
    const known = await this.#findBoughtBefore(prepared, signal);
    if (known !== undefined) return known;
    // Journaled before anything is paid: from here on the pack is never forgotten.
    const record = await this.#book.putPack(prepared.record);
    return this.#finish(record, signal, prepared);
  }

  /** Finds packs of an origin that this wallet bought before it was restored. @returns them */
  restore(origin: string, { signal, confirmMore = () => false }: RestoreOptions = {}): Promise<PackRecord[]> {
    return this.#book.exclusively(
      origin,
      async () => {
        this.#settings.assertNoDispatcher();
        this.#book.assertNotStopped(origin);
        await this.pinnedSchedules(origin, signal);
        const now = this.#wallet.now();
        const found: PackRecord[] = [];
        for (const key of this.#book.keys(origin).filter(({ epoch }) => redeemsAt(epoch, now)))
          for (const version of [2, 1] as const)
            for (const count of PACK_SIZES[version])
              for (;;) {
                const pack = await this.#findBoughtBefore(await this.#prepareNext(key, count, version), signal);
                if (pack === undefined) break;
                found.push(pack);
                if (found.length % PACKS_UNASKED === 0 && !(await confirmMore(found.length))) return found;
              }
        return found;
      },
      signal,
    );
  }

  #isOpen({ state, epoch }: PackRecord): boolean {
    return (state === "begun" || state === "paid") && redeemsAt(epoch, this.#wallet.now());
  }

  /** The merchant's schedules, checked and pinned. */
  async pinnedSchedules(origin: string, signal: AbortSignal | undefined) {
    const schedules = await merchantSchedules(this.#settings.send, this.#wallet, { origin }, signal);
    await this.#book.pin(origin, schedules, this.#wallet.now());
    return schedules;
  }

  /** The key that signs now for a value, after all comparisons. */
  async #checkedKey({ origin, value, signal }: PackWish): Promise<MerchantKey> {
    assertWithinLimit(this.#core.limits, value);
    const schedules = await this.pinnedSchedules(origin, signal);
    const wallets = new Set<string>(schedules.map(({ schedule }) => schedule.wallet));
    const now = this.#wallet.now();
    const key = this.#book
      .keys(origin)
      .find((each) => each.value === value && signsAt(each.epoch, now) && wallets.has(each.wallet));
    if (key === undefined)
      throw new PrepaidError(
        "PREPAID_NOT_OFFERED",
        `${origin} has no prepaid key for the value ${value} in ${epochOf(now)}`,
        { origin },
      );
    await this.compare([key], signal);
    return key;
  }

  /**
   * Compares keys of one merchant with the mirrors, each once.
   * @param keys pinned, of one merchant
   * @throws PrepaidError PREPAID_KEY_CONFLICT, PREPAID_MIRROR_FAILED, PREPAID_UNREACHABLE
   */
  async compare(keys: readonly MerchantKey[], signal: AbortSignal | undefined): Promise<void> {
    const { send, mirrors } = this.#settings;
    const [book, wallet] = [this.#book, this.#wallet];
    const wanted = keys.map((each) => ({ ...each, id: each.key.id }));
    const comparisonOf = (news: readonly MerchantKey[]) =>
      scheduleComparison(wallet, book.schedules(news[0]!.origin), news, signal);
    const conflict = await compareWithMirrors(book, wanted, comparisonOf, { mirrors, send, wallet, signal });
    if (conflict !== undefined)
      throw await book.stopForConflict(conflict.first.schedule.origin, conflict, wallet.now());
  }

  /** The tokens of a stored pack, unsigned. */
  async #prepare(record: PackRecord): Promise<Prepared> {
    return { record, pack: await unsignedPack(this.#wallet, termsOfPack(record)) };
  }

  /** The next pack of a key, not stored yet. */
  async #prepareNext(merchantKey: MerchantKey, count: number, version: PrepaidPackVersion = 2): Promise<Prepared> {
    const { origin, key } = merchantKey;
    const number = this.#book.nextNumber(origin, key.id, count, version);
    const label = prepaidPackLabel(origin, key.id, number);
    const pack = await unsignedPack(this.#wallet, { origin, key, label, count, version });
    const record = packOf(merchantKey, {
      id: packId(origin, key.id, number, version),
      version,
      number,
      count,
      batch: sha256(pack.request),
      created: this.#wallet.now(),
      state: "begun",
    });
    return { record, pack };
  }

  /** 100 tokens for the first pack at a host; later 1000, if that is within all limits. */
  async #chooseCount({ origin, value }: MerchantKey, wished: 1 | undefined): Promise<number> {
    const { maxPerHost } = this.#settings;
    const now = this.#wallet.now();
    const unspent = this.#book.unspent(origin, now);
    const [, small, large] = PREPAID_PACK_SIZES;
    const price = (count: number) => BigInt(count) * value;
    const fits = async (count: number): Promise<void> => {
      if (unspent + price(count) > maxPerHost)
        throw new PrepaidError(
          "PREPAID_LIMIT_EXCEEDED",
          `a pack costs ${price(count)} base units, but ${unspent} of the ${maxPerHost} base units allowed at ` +
            `${origin} are unspent`,
          { price: String(price(count)), unspent: String(unspent), limit: String(maxPerHost) },
        );
      const place = { now, host: new URL(origin).host };
      await assertSpendable(this.#wallet.store, this.#limitsOfPack(), price(count), place);
    };
    if (wished !== undefined) {
      await fits(wished);
      return wished;
    }
    if (this.#book.origin(origin).packs > 0)
      try {
        await fits(large);
        return large;
      } catch (error) {
        if (!(error instanceof SottoError)) throw error;
      }
    await fits(small);
    return small;
  }

  /** The limit for one request bounds the value of a token, not the price of a pack. */
  #limitsOfPack(): SpendingLimits {
    return { ...this.#core.limits, perRequest: undefined };
  }

  async #finish(record: PackRecord, signal: AbortSignal | undefined, known?: Prepared): Promise<PackRecord> {
    const prepared = known ?? (await this.#prepare(record));
    if (record.state === "paid") return this.#collect(record, prepared, signal);
    const paid = await this.#purchase(record, prepared, signal);
    const answer = await this.#present(paid, prepared, signal);
    return answer?.status === 200 ? this.#accept(paid, prepared, answer) : this.#collect(paid, prepared, signal);
  }

  /** Pays for a pack and stores the proof of payment in its record, so that it no longer depends on the purchase. */
  async #purchase(record: PackRecord, { pack }: Prepared, signal: AbortSignal | undefined): Promise<PackRecord> {
    const { origin, wallet, value, count, id } = record;
    const paid = await this.#core
      .payPrivately({
        key: id,
        url: this.#url(record),
        init: { method: "POST", headers: OCTETS, body: pack.request, ...(signal && { signal }) },
        fetch: this.#settings.send,
        wallet,
        price: BigInt(value) * BigInt(count),
        tokens: { count, value: BigInt(value) },
      })
      .catch(async (error: unknown) => {
        if (!(error instanceof FetchError) || error.code !== "TERMS_NOT_OFFERED") throw error;
        // Nothing was paid for this pack, and no proof for it left the process.
        await this.#book.forget(record);
        throw new PrepaidError(
          "PREPAID_NOT_OFFERED",
          message`the pack is not sold: ${error}`,
          { origin },
          { cause: error },
        );
      });
    const stored = await this.#book.putPack({
      ...record,
      state: "paid",
      proof: paid.header,
      attached: { ...paid.attached },
    });
    await paid.delivered();
    return stored;
  }

  #url({ origin, keyId, count, batch }: PackRecord): string {
    return origin + prepaidPurchaseTarget({ key: keyId, count, batch });
  }

  /** Shows the proof to the purchase's URL. Undefined if the merchant does not answer. */
  async #present(record: PackRecord, { pack }: Prepared, signal: AbortSignal | undefined): Promise<Answer | undefined> {
    const headers = { ...OCTETS, ...record.attached, "x-payment-proof": record.proof! };
    const init = { method: "POST", headers, body: pack.request as BodyInit };
    const maxBytes = record.count * PREPAID_KEY_BYTES;
    const limits = { name: `the pack at ${record.origin}`, maxBytes, timeoutMs: TIMEOUT_MS, signal };
    return ask(this.#settings.send, this.#url(record), init, limits).catch((error: unknown) => {
      if (error instanceof PrepaidError) return undefined;
      throw error;
    });
  }

  /** Asks for the signatures of a pack that was paid for. */
  async #collect(record: PackRecord, prepared: Prepared, signal: AbortSignal | undefined): Promise<PackRecord> {
    const { origin } = record;
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#recover(record, prepared, record.proof, signal);
      if (answer.status === 200) return this.#accept(record, prepared, answer);
      const [reason, said] = [reasonOf(answer), saidIn(answer)];
      if (!PASSING.includes(answer.status)) {
        const text = message`${origin} was paid for a pack and refuses its signatures: ${said}`;
        throw new PrepaidError("PREPAID_PACK_REFUSED", text, { origin, reason, id: record.id });
      }
      if (attempt >= TRIES) {
        const text = message`${origin} was paid for a pack and has not signed it yet: ${said}; the wallet asks again later`;
        throw new PrepaidError("PREPAID_PACK_PENDING", text, { origin, reason, id: record.id });
      }
      const asked = Number(answer.headers.get("retry-after") ?? 1) * 1000;
      await delay(Math.min(Number.isFinite(asked) ? asked : 1000, MAX_PAUSE_MS), signal);
    }
  }

  /** @param proof null asks for signatures that the merchant has made before; they are of no use to anybody else */
  #recover(
    { origin, keyId: key, count, batch }: Pick<PackRecord, "origin" | "keyId" | "count" | "batch">,
    { pack }: Prepared,
    proof: string | null,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const method = "POST";
    const headers = { ...OCTETS, "x-payment-proof": proof ?? "" };
    const init = proof === null ? { method } : { method, headers, body: pack.request as BodyInit };
    const maxBytes = count * PREPAID_KEY_BYTES;
    const name = `${origin}${PREPAID_RECOVER_PATH}`;
    const url = origin + prepaidRecoverTarget({ key, count, batch });
    return ask(this.#settings.send, url, init, { name, maxBytes, timeoutMs: TIMEOUT_MS, signal });
  }

  /** Verifies all signatures. One wrong signature voids the pack: the merchant could recognize its token. */
  async #accept(record: PackRecord, { pack }: Prepared, { body }: Answer): Promise<PackRecord> {
    const { origin, id } = record;
    if (body.length !== record.count * PREPAID_KEY_BYTES) {
      const message = `${origin} answers with ${body.length} bytes instead of a pack's signatures`;
      throw new PrepaidError("PREPAID_PACK_PENDING", message, { origin, reason: "wrong length", id });
    }
    try {
      await pack.finish(body);
    } catch (cause) {
      if (!(cause instanceof SottoError) || cause.code !== "INVALID_SIGNATURE") throw cause;
      const text = `${origin} returned a wrong signature, so the whole pack is void`;
      const stop = { code: "PREPAID_SIGNATURES_INVALID", message: text } as const;
      const error = await this.#book.stop(origin, stop, this.#wallet.now());
      await this.#book.putPack({ ...record, state: "void" });
      throw error;
    }
    return this.#book.putSignatures(record, body);
  }

  /**
   * A pack that this wallet bought before it was restored: the merchant then has its signatures. A
   * wallet that bought the same pack again would pay for tokens that it may have spent.
   */
  async #findBoughtBefore(prepared: Prepared, signal: AbortSignal | undefined): Promise<PackRecord | undefined> {
    const record = { ...prepared.record, restored: true };
    const answer = await this.#recover(record, prepared, null, signal);
    if (answer.status === 200) return this.#accept(record, prepared, answer);
    if (!PASSING.includes(answer.status)) return undefined;
    const text = message`${record.origin} cannot answer now: ${saidIn(answer)}`;
    throw new PrepaidError("PREPAID_PACK_PENDING", text, { reason: reasonOf(answer) });
  }
}
