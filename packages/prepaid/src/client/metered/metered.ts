import { type Challenge, type PayingCall, type PayingCore, type PayingWallet, reservationAt } from "@sotto/client";
import { foreign, message, quoted } from "@sotto/protocol";
import {
  encodePrepaidHeader,
  epochOf,
  METERED_CHARGE_HEADER,
  METERED_RULE_HEADER,
  type MeteredOffer,
  type MeteredRule,
  meteredRuleHash,
  meteredValues,
  PREPAID_HEADER,
  type PrepaidToken,
  prepaidPackLabel,
  redeemsAt,
  tokenIdHash,
} from "../../index.ts";
import { type PrepaidBook, type TokenWish, termsOfPack } from "../book.ts";
import { PrepaidError } from "../errors.ts";
import type { PrepaidSettings } from "../options.ts";
import type { Packs } from "../packs.ts";
import type { MeteredRecord, PackRecord } from "../records.ts";
import { unsignedPack } from "../unsigned-pack.ts";
import { Background } from "./background.ts";
import { isUnclear } from "./book.ts";
import { ChangeKeys, type KeyWish } from "./change-keys.ts";
import { Claims } from "./claims.ts";
import { changeMonths } from "./months.ts";
import { Swaps } from "./swaps.ts";
import { Terms } from "./terms.ts";

/** How often a token is sent again if the server answers that it did not take it. */
const MAX_RETRIES = 2;
/** Maximum number of requests for which a merchant owes a receipt or change. It also limits how many of its streams run at once. */
const MAX_OWED = 32;
/** How long a request waits while so many are owed, ms: an honest server answers their claims soon. */
const MAX_WAIT_MS = 5_000;
const POLL_MS = 50;
/** How long it may owe each of them, ms. A request runs for at most an hour. */
const MAX_OWED_MS = 2 * 3_600_000;
/** How many requests it may owe the change for longer than this, ms, after it has signed their receipts. */
const MAX_WITHHELD = 3;
const MAX_CLAIM_MS = 60_000;

/** A request that was paid with a token. */
export interface PaidRequest {
  readonly response: Response;
  /** Whether its token was bought for it. */
  readonly isBought: boolean;
}

/** A pack with the token that is taken next. */
interface NextToken {
  readonly pack: PackRecord;
  readonly tokens: readonly PrepaidToken[];
  readonly wish: TokenWish;
}

/** Pays for requests of metered routes, and gets their change back. */
export class Metered {
  readonly #core: PayingCore;
  readonly #wallet: PayingWallet;
  readonly #book: PrepaidBook;
  readonly #packs: Packs;
  readonly #settings: PrepaidSettings;
  readonly #terms: Terms;
  readonly #keys: ChangeKeys;
  readonly claims: Claims;
  readonly swaps: Swaps;
  readonly background: Background;

  constructor(core: PayingCore, book: PrepaidBook, packs: Packs, settings: PrepaidSettings) {
    this.#core = core;
    this.#wallet = core.wallet;
    this.#book = book;
    this.#packs = packs;
    this.#settings = settings;
    this.#terms = new Terms(core, book, settings);
    this.#keys = new ChangeKeys(book, packs);
    this.claims = new Claims(core, book, { keys: this.#keys, terms: this.#terms, settings });
    this.swaps = new Swaps(core, book, this.#keys, settings);
    this.background = new Background(book, this, settings);
  }

  /**
   * Shows the token of an equal request that ended without an answer, if the server does not know it and still asks for the same
   * rule. If the server knows it, its change is claimed, and this request is a new one.
   */
  async #showEarlier(call: PayingCall, challenge: Challenge, offer: MeteredOffer): Promise<Response | undefined> {
    const { metered } = this.#book;
    const { url } = challenge;
    const target = url.pathname + url.search;
    const earlier = metered
      .requests(url.origin)
      .find((each) => each.request === call.request && isUnclear(each.state) && !this.#isKnown(each));
    if (earlier === undefined || earlier.rule !== offer.rule || earlier.target !== target) return undefined;
    if (!redeemsAt(earlier.epoch, this.#wallet.now())) return undefined;
    metered.sending.add(earlier.id);
    try {
      const { kind } = await this.claims.claim(earlier.id);
      const unknown = metered.request(earlier.id);
      if (kind !== "unknown" || unknown?.state !== "unknown") return undefined;
      const header = await this.#headerOf(unknown);
      if (header === undefined) return undefined;
      await this.#core.confirm(challenge, { count: 1, value: offer.cap }, call.signal);
      const shown = await metered.again(unknown, this.#wallet.now(), this.#placeOf(url), this.#core.limits);
      return await this.#show(call, shown, header, url);
    } finally {
      metered.sending.delete(earlier.id);
    }
  }

  /** Whether a call is sending the request, or the server has answered it. */
  #isKnown({ id, served }: MeteredRecord): boolean {
    return this.#book.metered.sending.has(id) || served === true;
  }

  /**
   * Pays for a request with a token of the cap's value. Undefined if there is no token for it, and none is bought: then the
   * request is paid singly, without change.
   * @throws PrepaidError PREPAID_STOPPED, PREPAID_CHANGE_PENDING if the merchant owes too much change, and those of terms, packs and tokens; PurchaseError of a limit
   */
  async pay(call: PayingCall, challenge: Challenge, offer: MeteredOffer): Promise<PaidRequest | undefined> {
    const { url, instructions } = challenge;
    const { origin } = url;
    // A single payment would give no change, to a merchant that may have kept some.
    this.#book.assertNotStopped(origin);
    await this.#assertChangeArrives(origin, call.signal);
    const rule = await this.#terms.agreed(challenge, offer, call.method, call.signal);
    const merchant = { origin, wallet: instructions.payment.recipient.wallet };
    const offered = { ...merchant, value: offer.cap, keyId: offer.tokenKeyId };
    if (!(await this.#book.acceptsOffer(offered, this.#wallet.now()))) this.#book.assertNotStopped(origin);
    this.#book.metered.assertRoom(offer.cap, this.#placeOf(url), this.#core.limits);
    const response = await this.#showEarlier(call, challenge, offer);
    if (response !== undefined) return { response, isBought: false };
    const wish = { ...merchant, value: offer.cap, metered: true };
    const isBought = await this.#buyIfNeeded(wish, rule, call.signal);
    let next = this.#book.nextToken(wish, this.#wallet.now());
    if (next === undefined) return undefined;
    await this.#assertKeys(next, rule, call.signal);
    await this.#core.confirm(challenge, { count: 1, value: offer.cap }, call.signal);
    for (;;) {
      const pack: PackRecord = next;
      const tokens = await this.#book.tokens(pack, () => unsignedPack(this.#wallet, termsOfPack(pack)));
      call.signal?.throwIfAborted();
      // Another call may have taken the last token of the pack meanwhile.
      next = this.#book.nextToken(wish, this.#wallet.now());
      if (next === undefined) return undefined;
      if (next.id === pack.id)
        return { response: await this.#payWith(call, { pack, tokens, wish }, { offer, rule, url }), isBought };
      await this.#assertKeys(next, rule, call.signal);
    }
  }

  /**
   * A merchant that withholds change gets no further caps.
   * @throws PrepaidError PREPAID_CHANGE_PENDING; the signal's reason
   */
  async #assertChangeArrives(origin: string, signal: AbortSignal | undefined): Promise<void> {
    const end = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const { count, isWithheld } = this.#owed(origin);
      if (!isWithheld && count < MAX_OWED) return;
      if (isWithheld || performance.now() > end)
        throw new PrepaidError(
          "PREPAID_CHANGE_PENDING",
          `${origin} owes the change of ${count === 1 ? "a request" : `${count} requests`}, and is paid nothing until it arrives: run ` +
            "`sotto prepaid merge`, or give it up with `sotto prepaid drop`",
          { origin },
        );
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      signal?.throwIfAborted();
    }
  }

  /** Of how many requests a merchant owes the change, and whether it is late with it. */
  #owed(origin: string): { readonly count: number; readonly isWithheld: boolean } {
    const now = this.#wallet.now();
    const { metered } = this.#book;
    // A claim that waits for its answer counts too: otherwise a merchant that answers none gets ever more caps.
    const owed = metered
      .requests(origin)
      .filter(({ id, state, askedAt }) => {
        const isOpen = state === "shown" || state === "claimed";
        return isOpen && (askedAt !== undefined || metered.claiming.has(id));
      })
      .map(({ state, askedAt = now }) => ({ state, ms: now - askedAt }));
    const isLate = owed.some(({ ms }) => ms > MAX_OWED_MS);
    const withheld = owed.filter(({ state, ms }) => state === "claimed" && ms > MAX_CLAIM_MS).length;
    return { count: owed.length, isWithheld: isLate || withheld >= MAX_WITHHELD };
  }

  /**
   * Buys a single token if there is none: it costs what a single payment costs.
   * @returns whether it was bought
   */
  async #buyIfNeeded(
    wish: TokenWish & { readonly wallet: string },
    rule: MeteredRule,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const now = this.#wallet.now();
    if (!this.#settings.buy || this.#book.nextToken(wish, now) !== undefined) return false;
    await this.#assertKeys({ ...wish, epoch: epochOf(now) }, rule, signal);
    try {
      await this.#packs.buy({ origin: wish.origin, value: wish.value, count: 1, signal });
      return true;
    } catch (error) {
      if (!(error instanceof PrepaidError) || error.code !== "PREPAID_NOT_OFFERED") throw error;
      return false;
    }
  }

  /**
   * Before a token is bought or shown, the keys of its change are known and compared.
   * @param token of this merchant and month
   * @throws PrepaidError
   */
  async #assertKeys(
    { origin, wallet, epoch }: Omit<KeyWish, "values">,
    rule: MeteredRule,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const values = meteredValues(rule).filter((value) => value % rule.grain === 0n);
    for (const month of new Set(changeMonths(epoch, this.#wallet.now())))
      await this.#keys.of({ origin, wallet, epoch: month, values }, signal);
  }

  #placeOf(url: URL): MeteredRecord["place"] {
    return reservationAt(this.#wallet.now(), url.host, this.#core.limits);
  }

  /** Takes the next token of a pack and journals the request in one step: nothing is awaited in between. */
  async #payWith(
    call: PayingCall,
    { pack, tokens, wish }: NextToken,
    { offer, rule, url }: { readonly offer: MeteredOffer; readonly rule: MeteredRule; readonly url: URL },
  ): Promise<Response> {
    const index = this.#book.nextIndex(pack);
    const token = tokens[index]!;
    const record: MeteredRecord = {
      id: tokenIdHash(token).slice(2),
      origin: url.origin,
      wallet: pack.wallet,
      keyId: pack.keyId,
      epoch: pack.epoch,
      label: pack.change?.label ?? prepaidPackLabel(pack.origin, pack.keyId, pack.number),
      index: (pack.change?.first ?? 0) + index,
      pack: pack.id,
      method: call.method,
      target: url.pathname + url.search,
      request: call.request,
      terms: offer.terms,
      rule: meteredRuleHash(rule),
      cap: String(rule.cap),
      at: this.#wallet.now(),
      restored: pack.restored,
      reserved: true,
      place: this.#placeOf(url),
      state: "shown",
      receipt: null,
      change: null,
    };
    this.#book.metered.sending.add(record.id);
    try {
      const take = () => this.#book.takeNext(wish, this.#wallet.now())!.change;
      await this.#book.metered.begin(record, take, this.#core.limits);
      return await this.#show(call, record, encodePrepaidHeader(token), url);
    } finally {
      this.#book.metered.sending.delete(record.id);
    }
  }

  /** The header of a token that is shown again; undefined if its pack was deleted. */
  async #headerOf({ pack: id, index }: MeteredRecord): Promise<string | undefined> {
    const pack = this.#book.pack(id);
    if (pack?.state !== "ready") return undefined;
    const tokens = await this.#book.tokens(pack, () => unsignedPack(this.#wallet, termsOfPack(pack)));
    return encodePrepaidHeader(tokens[index - (pack.change?.first ?? 0)]!);
  }

  /**
   * Sends the request with its token once, unless the server answers that it did not take it. However that ends, the change is
   * claimed.
   */
  async #show(call: PayingCall, record: MeteredRecord, header: string, url: URL): Promise<Response> {
    const { id, cap, rule, origin } = record;
    call.tell({ stage: "token", method: "prepaid", resourceUrl: url.href, price: BigInt(cap) });
    const payment = { name: PREPAID_HEADER, value: header, url, also: { [METERED_RULE_HEADER]: rule } };
    const shown = await call.present(payment, { retries: MAX_RETRIES, onlyIfAsked: true }).catch((error: unknown) => {
      this.#claimLater(id);
      throw error;
    });
    const { response, outcome } = shown;
    if (outcome === "answered" || outcome === "unseen") {
      if (outcome === "answered") {
        const said = this.claims.said(record, response.headers.get(METERED_CHARGE_HEADER));
        // The response is paid: it is returned even if the store fails.
        await this.#book.metered.update({ ...record, served: true, ...said }).catch(() => undefined);
      }
      this.#claimLater(id);
      return response;
    }
    const reason = quoted(shown.reason);
    const why = reason === "" ? "it gives no reason" : foreign(reason);
    const told = { origin, reason };
    if (outcome === "pending") {
      await this.#book.metered.unknown(record);
      const text = message`the server cannot take the prepaid token yet: ${why}; repeat the same request`;
      throw new PrepaidError("PREPAID_TOKEN_PENDING", text, told);
    }
    const claimed = await this.claims.claim(id).catch(() => undefined);
    if (record.restored) await this.#book.endRestored(record.pack);
    if (claimed?.kind !== "unknown" || record.restored) {
      this.#claimLater(id);
      const text = message`${origin} refuses a prepaid token of a metered route: ${why}; the wallet claims its change`;
      throw new PrepaidError("PREPAID_TOKEN_REFUSED", text, told);
    }
    // The merchant may have changed its price meanwhile: only several such tokens stop it.
    const text = message`${origin} refuses a prepaid token of a metered route: ${why}; nothing more was paid; repeat the same request`;
    throw new PrepaidError("PREPAID_TOKEN_REFUSED", text, told);
  }

  /** Claims the change of a request that is no longer being sent. */
  #claimLater(id: string): void {
    this.#book.metered.sending.delete(id);
    this.background.claim(id);
  }
}
