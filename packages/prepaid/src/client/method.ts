import type { Challenge, CheckedInit, OpenMethod, PayingCall, PayingCore, PayingMethod } from "@sotto/client";
import { encodePrepaidHeader, METERED_RULE_HEADER, PREPAID_HEADER } from "../index.ts";
import { type PrepaidBook, prepaidBookOf, termsOfPack } from "./book.ts";
import { Metered } from "./metered/metered.ts";
import { offeredMeter } from "./metered/terms.ts";
import { offeredKey } from "./offer.ts";
import { type PackEvent, type PrepaidOptions, type PrepaidSettings, parsePrepaidOptions } from "./options.ts";
import { Packs } from "./packs.ts";
import type { PackRecord, ShownRecord } from "./records.ts";
import { showToken } from "./show-token.ts";
import { isClosed, runLater } from "./timer.ts";
import { unsignedPack } from "./unsigned-pack.ts";

/** Name of the method. */
const PREPAID = "prepaid";
/** The share of a pack that is left when the next one is bought is between these, chosen at random for each pack. */
const MIN_LEVEL = 0.1;
const MAX_LEVEL = 0.4;
/** Milliseconds after which a failed purchase in the background is tried again, at least. */
const AFTER_FAILURE_MS = 60_000;

/** The method that pays with prepaid tokens. */
export class PrepaidMethod implements PayingMethod<PrepaidSpender> {
  /** `prepaid`. */
  readonly name = PREPAID;
  /** X-Payment-Token, and X-Payment-Rule for metered routes. */
  readonly headers: readonly string[] = [PREPAID_HEADER, METERED_RULE_HEADER];
  readonly #options: PrepaidOptions;

  /** See {@link prepaid}. */
  constructor(options: PrepaidOptions) {
    this.#options = options;
  }

  /** @throws FetchError FETCH_OPTION_INVALID, ORIGIN_NOT_SECURE; ServiceClientError; SottoError INVALID_AMOUNT */
  open(core: PayingCore): PrepaidSpender {
    return new PrepaidSpender(core, parsePrepaidOptions(this.#options, core));
  }
}

/**
 * Pays with prepaid tokens at servers that sell them, for the option `methods` of `wrapFetch`. A request for which the
 * wallet has no token is paid by the next method.
 */
export const prepaid = (options: PrepaidOptions): PrepaidMethod => new PrepaidMethod(options);

/** The open parts of a wallet's prepaid tokens. */
export interface OpenPrepaid {
  readonly book: PrepaidBook;
  readonly packs: Packs;
  readonly metered: Metered;
}

/** Spends prepaid tokens, buys packs and claims change in the background. */
export class PrepaidSpender implements OpenMethod {
  readonly #core: PayingCore;
  readonly #settings: PrepaidSettings;
  /** Origins and values whose next purchase has a timer. */
  readonly #armed = new Set<string>();
  #opened: Promise<OpenPrepaid> | undefined;

  /** @param settings checked */
  constructor(core: PayingCore, settings: PrepaidSettings) {
    this.#core = core;
    this.#settings = settings;
  }

  /** For a request that may need packs. @throws FetchError FETCH_OPTION_INVALID */
  assertInit(init: CheckedInit): void {
    this.#settings.assertNoDispatcher(init);
  }

  /** Opens the wallet's tokens and, if packs are bought in the background, resumes those and the claims that a crash left unfinished. */
  open(): Promise<OpenPrepaid> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  async #open(): Promise<OpenPrepaid> {
    const book = await prepaidBookOf(this.#core.wallet.store);
    const packs = new Packs(this.#core, book, this.#settings);
    const metered = new Metered(this.#core, book, packs, this.#settings);
    // Without purchases in the background, the program may end at once: it, or its owner, merges at another time.
    if (this.#settings.buy) {
      metered.background.resume();
      for (const { origin, value, due } of book.dues()) this.#arm(book, packs, origin, BigInt(value), due!);
      for (const { origin, value, state } of book.packs())
        if (state === "begun" || state === "paid") this.#arm(book, packs, origin, BigInt(value), 0);
    }
    return { book, packs, metered };
  }

  /** Shows the token again that an equal, unfinished request was shown with. Undefined if there is none. */
  async resume(call: PayingCall): Promise<Response | undefined> {
    const { book } = await this.open();
    const shown = book.shownTo(call.request);
    const pack = shown && book.pack(shown.pack);
    if (shown === undefined || pack?.state !== "ready" || pack.origin !== call.url.origin) return undefined;
    const release = book.acquire(shown);
    return this.#show(call, book, pack, { shown, release, fresh: false, url: call.url });
  }

  /**
   * Pays for a request with a token. Undefined if there is no token for it: then the request is paid singly, because it
   * must not wait for a pack.
   */
  async pay(call: PayingCall, challenge: Challenge): Promise<Response | undefined> {
    const { instructions, offers, price, url } = challenge;
    const { metered } = await this.open();
    const offer = offeredMeter(challenge);
    if (offer !== undefined) {
      const paid = await metered.pay(call, challenge, offer);
      if (paid !== undefined) await this.#consider(url.origin, price, paid.isBought);
      return paid?.response;
    }
    const keyId = offeredKey(offers, price);
    if (keyId === undefined) return undefined;
    const { wallet } = this.#core;
    const { book } = await this.open();
    const { origin } = url;
    if (book.origin(origin).stopped !== null) return undefined;
    const offered = { origin, wallet: instructions.payment.recipient.wallet, value: price, keyId };
    if (!(await book.acceptsOffer(offered, wallet.now()))) return undefined;
    if (book.available({ origin, value: price }, wallet.now()) === 0) return undefined;
    await this.#core.confirm(challenge, { count: 1, value: price }, call.signal);
    call.signal?.throwIfAborted();
    const taken = await book.take({ origin, value: price, request: call.request }, wallet.now());
    if (taken === undefined) return undefined;
    await this.#consider(origin, price, false);
    return this.#show(call, book, book.pack(taken.shown.pack)!, { ...taken, fresh: true, url });
  }

  /** Counts a request that was paid singly although its server sells tokens. */
  async paidOtherwise(challenge: Challenge): Promise<void> {
    const { offers, price, url } = challenge;
    if ((offeredMeter(challenge)?.tokenKeyId ?? offeredKey(offers, price)) !== undefined)
      await this.#consider(url.origin, price, true);
  }

  async #show(
    call: PayingCall,
    book: PrepaidBook,
    pack: PackRecord,
    token: { shown: ShownRecord; release: () => void; fresh: boolean; url: URL },
  ): Promise<Response> {
    const { wallet } = this.#core;
    try {
      const tokens = await book.tokens(pack, () => unsignedPack(wallet, termsOfPack(pack)));
      const header = encodePrepaidHeader(tokens[token.shown.index]!);
      const price = BigInt(pack.value);
      call.tell({ stage: "token", method: PREPAID, resourceUrl: token.url.href, price });
      return await showToken(call, { ...token, book, header, now: () => wallet.now() });
    } finally {
      token.release();
    }
  }

  /** Decides whether the next pack is needed, and if so, when it is bought. */
  async #consider(origin: string, value: bigint, singly: boolean): Promise<void> {
    const [settings, { wallet }] = [this.#settings, this.#core];
    if (!settings.buy) return;
    const { book, packs } = await this.open();
    const demand = book.demand(origin, value);
    const paid = demand.paid + (singly ? 1 : 0);
    const left = book.available({ origin, value }, wallet.now());
    const needed = left === 0 ? paid >= settings.buyAfter : left <= demand.level;
    const stopped = book.origin(origin).stopped !== null;
    if (demand.due === null && needed && !stopped) {
      const due = wallet.now() + Math.floor(settings.random() * settings.maxDelayMs);
      await book.putDemand({ ...demand, paid, due });
      this.#arm(book, packs, origin, value, due);
    } else if (singly) await book.putDemand({ ...demand, paid });
  }

  /** Buys a pack at the time `due`, in the background. A failure is tried again later; no request waits for it. */
  #arm(book: PrepaidBook, packs: Packs, origin: string, value: bigint, due: number): void {
    const key = `${origin} ${value}`;
    if (this.#armed.has(key)) return;
    const run = () => {
      this.#armed.delete(key);
      void this.#buy(book, packs, origin, value);
    };
    this.#armed.add(key);
    runLater(due - this.#core.wallet.now(), run);
  }

  #report(event: PackEvent): void {
    try {
      this.#settings.onPack(event);
    } catch {
      // An error of the program's callback must not end the process: no call waits for this purchase.
    }
  }

  async #buy(book: PrepaidBook, packs: Packs, origin: string, value: bigint): Promise<void> {
    const { wallet } = this.#core;
    const { random, maxDelayMs } = this.#settings;
    try {
      const { count } = await packs.buy({ origin, value });
      const level = Math.floor(count * (MIN_LEVEL + random() * (MAX_LEVEL - MIN_LEVEL)));
      await book.putDemand({ origin, value: String(value), paid: 0, due: null, level });
      this.#report({ kind: "bought", origin, value, count });
    } catch (error) {
      const due = wallet.now() + AFTER_FAILURE_MS + Math.floor(random() * maxDelayMs);
      const stopped = book.origin(origin).stopped !== null;
      // If the store fails too, the purchase is tried when the next request needs it.
      await book.putDemand({ ...book.demand(origin, value), due: stopped ? null : due }).catch(() => undefined);
      if (!stopped && !isClosed(error)) this.#arm(book, packs, origin, value, due);
      this.#report({ kind: "failed", origin, value, error });
    }
  }
}
