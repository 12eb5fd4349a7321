import { MAX_AMOUNT } from "@sotto/protocol";
import { type PrepareRequest, SottoService, type Wallet } from "@sotto/wallet";
import { hexlify, randomBytes } from "ethers";
import { checkRecipientPhone } from "../phone/recipient.ts";
import { PrepaidError } from "../prepaid/errors.ts";
import { describePack, type PrepaidPackInfo } from "../prepaid/list.ts";
import { bookOf, type PurchaseBook } from "../purchase/book.ts";
import type { Context, ContextOptions } from "../purchase/context.ts";
import { PurchaseError } from "../purchase/errors.ts";
import { hashText } from "../purchase/hash.ts";
import { sweepPurchases } from "../purchase/open.ts";
import type { PaidPurchase } from "../purchase/paid.ts";
import type { OnProgress, PurchaseStage } from "../purchase/progress.ts";
import { assertOpen, begin, checkRequest, type PurchaseRequest, resume, sameTerms } from "../purchase/purchase.ts";
import type { PurchaseRecord, PurchaseTerms } from "../purchase/record.ts";
import { NoteSplitter } from "../purchase/split.ts";
import { abandon, cannotSettle } from "../purchase/unpaid.ts";
import { type Call, captureCall } from "./call.ts";
import { type Challenge, isChallenge, readChallenge } from "./challenge.ts";
import { FetchError } from "./errors.ts";
import { type Offer, payableOffer } from "./offer.ts";
import { type CheckedOptions, checkOptions, type PayingFetch, type PayingInit, type WrapOptions } from "./options.ts";
import type { PackPurchase, PackWish, RestoreOptions } from "./packs.ts";
import { PrepaidSpender } from "./prepaid.ts";
import { checkPrepaidOptions } from "./prepaid-options.ts";
import { Preparer } from "./preparer.ts";
import { checkPin } from "./recipient.ts";
import { assertInit } from "./request.ts";
import { assertServerClock } from "./server-clock.ts";
import { showProof } from "./show.ts";

const BODY_LIMIT = 4 << 20;

/**
 * Wraps fetch so that it pays: if a response is 402 with `WWW-Authenticate: x402-zk`, the client pays within the limits
 * and repeats the request with the proof. Otherwise it behaves exactly like fetch.
 * @throws FetchError FETCH_OPTION_INVALID; ServiceClientError SERVICE_NOT_ALLOWED
 */
export function wrapFetch(send: typeof fetch, wallet: Wallet, options: WrapOptions): PayingFetch {
  const payer = new Payer(send, wallet, options);
  return (input, init) => payer.fetch(input, init);
}

/**
 * Buys a pack of prepaid tokens, or finishes one that was begun: 100 tokens for the first pack at a host, later 1000 if
 * that is within the limits. The same call resumes after a crash and never pays twice for a pack.
 *
 * @param options those of `wrapFetch`, with `prepaid`
 * @throws PrepaidError; FetchError; PurchaseError; ServiceClientError; WalletError; the signal's reason
 */
export function buyPrepaid(
  send: typeof fetch,
  wallet: Wallet,
  options: WrapOptions,
  wish: PackWish,
): Promise<PrepaidPackInfo> {
  return new Payer(send, wallet, options).buyPrepaid(wish);
}

/**
 * Finds the packs that this wallet bought at an origin before it was restored from its words, and asks for their
 * signatures again. Pays nothing. After every ten packs, `confirmMore` decides whether to look for more.
 *
 * @throws PrepaidError; FetchError FETCH_OPTION_INVALID
 */
export function restorePrepaid(
  send: typeof fetch,
  wallet: Wallet,
  options: WrapOptions,
  origin: string,
  restoring: RestoreOptions = {},
): Promise<PrepaidPackInfo[]> {
  return new Payer(send, wallet, options).restorePrepaid(origin, restoring);
}

/**
 * Sends a request without paying. If the response is a 402 that the paying fetch would pay, returns its offer; the
 * limit per request is ignored here, so that the caller can show a price above it. Writes nothing to the wallet's
 * store.
 * @throws FetchError, the same errors that the paying fetch throws before it pays
 */
export async function quotePayment(
  send: typeof fetch,
  wallet: Wallet,
  options: Pick<WrapOptions, "services" | "bodyLimit">,
  ...[input, init = {}]: Parameters<typeof fetch>
): Promise<Quote> {
  const { services } = checkOptions({ ...options, maxPerRequest: MAX_AMOUNT }, wallet.pool.chainId);
  const call = await captureCall(send, input, init, options.bodyLimit ?? BODY_LIMIT);
  const sent = wallet.now();
  const response = await call.send();
  if (!isChallenge(response)) return { response, offer: undefined };
  const challenge = await readChallenge(call, response, wallet, services, sent);
  await assertServerClock(wallet, challenge, call.signal);
  return { response: undefined, offer: await payableOffer(challenge, wallet, {}, call.signal) };
}

/** The offer of a 402, or the response to a request that costs nothing. */
export type Quote =
  | {
      /** The response to a request that costs nothing. */
      readonly response: Response;
      /** Undefined if there is a response. */
      readonly offer: undefined;
    }
  | {
      /** Undefined if there is an offer. */
      readonly response: undefined;
      /** The offer of the 402. Nothing is paid yet. */
      readonly offer: Offer;
    };

class Payer {
  readonly #send: typeof fetch;
  readonly #wallet: Wallet;
  readonly #options: WrapOptions;
  readonly #checked: CheckedOptions;
  readonly #splitter: NoteSplitter | undefined;
  readonly #prepaid: PrepaidSpender | undefined;
  readonly #preparer: Preparer | undefined;

  constructor(send: typeof fetch, wallet: Wallet, options: WrapOptions) {
    if (typeof send !== "function") throw new FetchError("FETCH_OPTION_INVALID", "the first argument must be a fetch");
    // Called as a plain function, because a browser's fetch accepts only the window as `this`.
    this.#send = (input, init) => send(input, init);
    this.#wallet = wallet;
    this.#options = options;
    this.#checked = checkOptions(options, wallet.pool.chainId);
    this.#splitter = options.split === undefined ? undefined : new NoteSplitter(wallet, options.split);
    this.#preparer = options.prepare === true ? new Preparer(wallet) : undefined;
    if (options.prepaid !== undefined)
      this.#prepaid = new PrepaidSpender({
        wallet,
        settings: checkPrepaidOptions(options.prepaid, send, wallet.pool.chainId),
        limits: this.#checked.limits,
        pay: (call, terms) => this.#payPack(call, terms),
        retryDelayMs: options.retryDelayMs,
      });
  }

  async fetch(input: string | URL | Request, given: PayingInit = {}): Promise<Response> {
    assertInit(given);
    const { sotto = {}, ...init } = given;
    this.#prepaid?.assertNoDispatcher(init);
    const call = await captureCall(this.#send, input, init, this.#options.bodyLimit ?? BODY_LIMIT);
    // A request with its own proof or token is already paid for.
    if (call.carriesPayment) return call.send();
    const book = await bookOf(this.#wallet.store);
    const request = sotto.request === undefined ? call.fingerprint : hashText(`${call.url.origin} ${sotto.request}`);
    const claim = takeClaim(book, call, request, sotto.key);
    try {
      const onProgress = sotto.onProgress ?? this.#options.onProgress;
      return await this.#pay({ call, request, book, claim, onProgress }, sotto.key === undefined);
    } catch (error) {
      call.signal?.throwIfAborted();
      throw error;
    } finally {
      claim.release();
    }
  }

  /** @param tokens whether it may be paid with a prepaid token; a purchase with a key is paid singly, and recorded */
  async #pay(paying: Paying, tokens: boolean): Promise<Response> {
    const { call, book, claim } = paying;
    const prepaid = tokens ? this.#prepaid : undefined;
    await assertOpen(book, claim.id);
    const begun = await this.#mayBePaid(paying);
    if (begun !== undefined) {
      if (begun.settled === null) await this.#confirm(offerOf(begun));
      // A service that is no longer allowed gets no new payment, but the proof of a settled payment is still presented.
      const service = this.#service(begun.service, begun.settled !== null);
      const paid = await resume(this.#context(paying, service, begun), claim.release);
      // The proof is only for the URL that sent the 402, which may be the target of a redirect.
      return this.#show(paying, paid, new URL(begun.resourceUrl));
    }
    const onToken = (resourceUrl: string, price: bigint) => paying.onProgress?.({ stage: "token", resourceUrl, price });
    const again = await prepaid?.showAgain(call, paying.request, onToken);
    if (again !== undefined) return again;
    const sent = this.#wallet.now();
    const response = await call.send();
    if (!isChallenge(response)) return response;
    const challenge = await readChallenge(call, response, this.#wallet, this.#checked.services, sent);
    const terms = termsOf(challenge);
    this.#preparer?.asked(challenge.url.host, terms);
    const confirm = () => this.#confirmToken(challenge, call.signal);
    const spent = await prepaid?.spend(call, paying.request, challenge, confirm, onToken);
    if (spent !== undefined) return spent;
    const answer = await this.#show(paying, await this.#buy(paying, challenge), challenge.url);
    this.#preparer?.paid(challenge.url.host, terms);
    await prepaid?.paidSingly(challenge);
    return answer;
  }

  /** Asks the program before a token is shown, with the same checked terms as before a payment. */
  async #confirmToken(challenge: Challenge, signal: AbortSignal | undefined): Promise<void> {
    if (this.#options.confirmPayment === undefined) return;
    const offer = await payableOffer(challenge, this.#wallet, this.#checked.limits, signal);
    await this.#confirm({ ...offer, reserved: true, prepaid: { count: 1, value: offer.price } });
  }

  /** Buys a pack of prepaid tokens in the foreground. @throws FetchError FETCH_OPTION_INVALID without `prepaid` */
  async buyPrepaid(wish: PackWish): Promise<PrepaidPackInfo> {
    const { book, packs } = await this.#opened();
    return describePack(book, await packs.buy(wish));
  }

  /** Finds packs that this wallet bought before it was restored. @throws FetchError FETCH_OPTION_INVALID */
  async restorePrepaid(origin: string, restoring: RestoreOptions): Promise<PrepaidPackInfo[]> {
    const { book, packs } = await this.#opened();
    return (await packs.restore(origin, restoring)).map((pack) => describePack(book, pack));
  }

  async #opened() {
    if (this.#prepaid === undefined) throw new FetchError("FETCH_OPTION_INVALID", "the option prepaid is missing");
    return this.#prepaid.open();
  }

  /**
   * Pays for a pack, as an ordinary purchase: its price counts against the limits per day, while the limit for one
   * request bounds the value of a token.
   */
  async #payPack(call: Call, { key, ...terms }: PackPurchase): Promise<PaidPurchase> {
    const book = await bookOf(this.#wallet.store);
    const claim = takeClaim(book, call, call.fingerprint, key);
    const paying: Paying = { call, request: call.fingerprint, book, claim, onProgress: undefined };
    try {
      await assertOpen(book, claim.id);
      const begun = await this.#mayBePaid(paying);
      if (begun !== undefined) {
        if (begun.settled === null) await this.#confirm({ ...offerOf(begun), prepaid: terms });
        const service = this.#service(begun.service, begun.settled !== null);
        return await resume(this.#context(paying, service, begun, true), claim.release);
      }
      const sent = this.#wallet.now();
      const response = await call.send();
      if (!isChallenge(response)) {
        await response.body?.cancel().catch(() => undefined);
        const { origin } = call.url;
        throw new PrepaidError("PREPAID_NOT_OFFERED", `${origin} does not sell the pack (${response.status})`, {
          origin,
        });
      }
      const challenge = await readChallenge(call, response, this.#wallet, this.#checked.services, sent);
      return await this.#buy(paying, challenge, terms);
    } catch (error) {
      claim.release();
      call.signal?.throwIfAborted();
      throw error;
    }
  }

  /**
   * The unfinished purchase that this call resumes, if it may already be paid. In that case, the server is not asked
   * first.
   */
  async #mayBePaid({ call, request, book, claim }: Paying): Promise<PurchaseRecord | undefined> {
    const record = book.get(claim.id);
    if (record === undefined) return undefined;
    if (record.request !== request)
      throw new PurchaseError("PURCHASE_MISMATCH", "the purchase with this key is for another request", {
        id: record.id,
      });
    if (record.settled !== null || record.problem !== null) return record;
    // A proof that never left this process cannot have settled.
    if (record.sent.length === 0) return undefined;
    await this.#wallet.scan({ signal: call.signal });
    return cannotSettle(this.#wallet, record) ? undefined : record;
  }

  /** @param pack what the 402 of a pack must ask for */
  async #buy(paying: Paying, challenge: Challenge, pack?: Omit<PackPurchase, "key">): Promise<PaidPurchase> {
    const { call, book, claim, onProgress } = paying;
    const { instructions, price, service: url } = challenge;
    const resourceUrl = instructions.metadata.resource;
    await assertServerClock(this.#wallet, challenge, call.signal);
    const tell = (stage: PurchaseStage) => onProgress?.({ stage, resourceUrl, price });
    tell("challenge");
    const { recipient: paid, zkProof } = instructions.payment;
    const { wallet, shieldedAddress } = paid;
    if (pack !== undefined) assertSame(pack, challenge);
    const limits = pack === undefined ? this.#checked.limits : { ...this.#checked.limits, perRequest: undefined };
    const offer = { ...(await payableOffer(challenge, this.#wallet, limits, call.signal)), prepaid: pack };
    const { host } = offer;
    const service = this.#service(url);
    const recipient = { wallet, shieldedAddress };
    const request: PurchaseRequest = {
      recipient,
      price,
      resourceUrl,
      host,
      request: paying.request,
      limits,
      maxHeaderLength: zkProof.maxHeaderLength,
    };
    const terms = checkRequest(service, request);
    const begun = await this.#begun(book, claim.id, terms);
    await this.#confirm({ ...offer, reserved: begun?.reserved != null });
    await this.#checkPhone(challenge, call.signal);
    if (this.#options.pinHosts !== false)
      await checkPin(this.#wallet.store, host, wallet, this.#options.confirmRecipient);
    tell("recipient");
    const record = begun ?? (await begin(this.#wallet, book, claim.id, request, terms));
    const context = this.#context(paying, service, record, pack !== undefined);
    return resume(context, claim.release, () => this.#split(service, call.signal, () => tell("split")));
  }

  /** @throws FetchError PAYMENT_DECLINED */
  async #confirm(offer: Offer): Promise<void> {
    const { confirmPayment } = this.#options;
    if (confirmPayment === undefined || (await confirmPayment(offer)) === true) return;
    const { host, price, resumed } = offer;
    const what = resumed ? "resuming the payment" : "the payment";
    const left = resumed ? "; its purchase stays open and may be paid already" : "";
    throw new FetchError("PAYMENT_DECLINED", `${what} of ${price} base units to ${host} was declined${left}`, {
      host,
      price: String(price),
    });
  }

  /** Splits notes for parallel payments, if the options ask for it and notes are missing. */
  async #split(service: SottoService, signal: AbortSignal | undefined, begins: () => void): Promise<void> {
    if (this.#splitter === undefined) return;
    await this.#wallet.scan({ signal });
    if (!this.#splitter.needed()) return;
    begins();
    await this.#splitter.run(service, signal);
  }

  /**
   * The recorded purchase, if the server still asks for the same terms. Purchases that can never be paid are closed
   * before the payment is confirmed, because their prices still count against the limits.
   */
  async #begun(book: PurchaseBook, id: string, terms: PurchaseTerms): Promise<PurchaseRecord | undefined> {
    await sweepPurchases(this.#wallet, book);
    const known = book.get(id);
    if (known === undefined || sameTerms(known, terms)) return known;
    await abandon(this.#wallet, book, known);
    return undefined;
  }

  #service(url: string, settled = false): SottoService {
    const { serviceFetch = this.#send } = this.#options;
    const { chainId } = this.#wallet.pool;
    return new SottoService(url, {
      fetch: serviceFetch,
      chainId,
      allow: settled ? undefined : this.#checked.services,
    });
  }

  async #checkPhone({ instructions }: Challenge, signal: AbortSignal | undefined): Promise<void> {
    const { phone, serviceFetch = this.#send } = this.#options;
    if (this.#checked.registry === undefined) return;
    const { chainId } = this.#wallet.pool;
    const registry = new SottoService(this.#checked.registry, { fetch: serviceFetch, chainId });
    await checkRecipientPhone(this.#wallet, registry, instructions.payment.recipient, { ...phone, signal });
  }

  #context({ book, call, onProgress }: Paying, service: SottoService, record: PurchaseRecord, anyAge = false): Context {
    const { fundsTimeoutMs, chainTimeoutMs, merge } = this.#options;
    const options: ContextOptions = { signal: call.signal, onProgress, fundsTimeoutMs, chainTimeoutMs, merge, anyAge };
    return { wallet: this.#wallet, service, book, options, record };
  }

  #show({ call, onProgress }: Paying, paid: PaidPurchase, url: URL): Promise<Response> {
    const { retryDelayMs } = this.#options;
    return showProof(call, paid, { onProgress, url, now: () => this.#wallet.now(), retryDelayMs });
  }
}

/** What a payment for a challenge can be prepared with. */
function termsOf({ instructions, price, service }: Challenge): PrepareRequest {
  const { wallet, shieldedAddress } = instructions.payment.recipient;
  return { recipient: { wallet, shieldedAddress }, amount: price, service };
}

/** The terms of a purchase whose proof was sent. */
const offerOf = ({ recipient, price, resourceUrl, service, reserved }: PurchaseRecord): Offer => ({
  host: reserved?.host ?? new URL(resourceUrl).host,
  resourceUrl,
  price: BigInt(price),
  recipient: recipient.wallet,
  phone: "",
  service,
  reserved: reserved !== null,
  resumed: true,
});

/** @throws PrepaidError PREPAID_NOT_OFFERED if the 402 of a pack is not for this pack, wallet and price */
function assertSame({ wallet, price }: Omit<PackPurchase, "key">, { instructions, price: asked }: Challenge): void {
  const found = instructions.payment.recipient.wallet;
  if (found === wallet && asked === price) return;
  const what = found === wallet ? `asks ${asked} base units instead of ${price}` : `is to be paid to ${found}`;
  throw new PrepaidError("PREPAID_NOT_OFFERED", `the pack ${what}; nothing was paid`);
}

/** The state of one call to the paying fetch. */
interface Paying {
  call: Call;
  /** The same for equal requests. */
  request: string;
  book: PurchaseBook;
  claim: { id: string; release: () => void };
  onProgress: OnProgress | undefined;
}

/**
 * Claims the purchase of this call: with a key, the purchase that the key names; without one, an unfinished purchase of
 * an equal request, or a new purchase. Nothing is awaited before the claim, so two calls never claim the same purchase.
 * @throws PurchaseError PURCHASE_IN_PROGRESS
 */
function takeClaim(book: PurchaseBook, call: Call, request: string, key: string | undefined): Paying["claim"] {
  if (key !== undefined && (typeof key !== "string" || key === "" || key.length > 512))
    throw new FetchError("FETCH_OPTION_INVALID", "key must be a text of 1 to 512 characters");
  const random = () => hexlify(randomBytes(16)).slice(2);
  const named = key === undefined ? undefined : hashText(`fetch ${call.url.origin} ${key}`);
  const id = named ?? book.unfinished(request)?.id ?? random();
  return { id, release: book.claim(id) };
}
