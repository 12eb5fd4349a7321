import { MAX_AMOUNT } from "@sotto/protocol";
import { hexlify, randomBytes } from "ethers";
import { checkRecipientPhone } from "../phone/recipient.ts";
import { bookOf, type PurchaseBook } from "../purchase/book.ts";
import type { Context, PurchaseOptions } from "../purchase/context.ts";
import { PurchaseError } from "../purchase/errors.ts";
import { hashText } from "../purchase/hash.ts";
import { sweepPurchases } from "../purchase/open.ts";
import type { PaidPurchase } from "../purchase/paid.ts";
import type { OnProgress, PurchaseStage } from "../purchase/progress.ts";
import { assertOpen, begin, checkRequest, type PurchaseRequest, resume, sameTerms } from "../purchase/purchase.ts";
import type { PurchaseRecord, PurchaseTerms } from "../purchase/record.ts";
import { NoteSplitter } from "../purchase/split.ts";
import { abandon, cannotSettle, closeIfUnpaid } from "../purchase/unpaid.ts";
import { SottoService } from "../service/service.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { type Call, captureCall } from "./call.ts";
import { type Challenge, isChallenge, readChallenge } from "./challenge.ts";
import { FetchError } from "./errors.ts";
import { type Offer, payableOffer } from "./offer.ts";
import { type CheckedOptions, checkOptions, type PayingFetch, type PayingInit, type WrapOptions } from "./options.ts";
import { checkPin } from "./recipient.ts";
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
  const response = await call.send();
  if (!isChallenge(response)) return { response, offer: undefined };
  const challenge = await readChallenge(call, response, wallet, services);
  return { response: undefined, offer: await payableOffer(challenge, wallet, {}) };
}

/** The offer of a 402, or the response to a request that costs nothing. */
export type Quote =
  | { readonly response: Response; readonly offer: undefined }
  | { readonly response: undefined; readonly offer: Offer };

class Payer {
  readonly #send: typeof fetch;
  readonly #wallet: Wallet;
  readonly #options: WrapOptions;
  readonly #checked: CheckedOptions;
  readonly #splitter: NoteSplitter | undefined;

  constructor(send: typeof fetch, wallet: Wallet, options: WrapOptions) {
    if (typeof send !== "function") throw new FetchError("FETCH_OPTION_INVALID", "the first argument must be a fetch");
    // Called as a plain function, because a browser's fetch accepts only the window as `this`.
    this.#send = (input, init) => send(input, init);
    this.#wallet = wallet;
    this.#options = options;
    this.#checked = checkOptions(options, wallet.pool.chainId);
    this.#splitter = options.split === undefined ? undefined : new NoteSplitter(wallet, options.split);
  }

  async fetch(input: string | URL | Request, { sotto = {}, ...init }: PayingInit = {}): Promise<Response> {
    const call = await captureCall(this.#send, input, init, this.#options.bodyLimit ?? BODY_LIMIT);
    // A request with its own proof header is already paid for.
    if (call.carriesProof) return call.send();
    const book = await bookOf(this.#wallet.store);
    const request = sotto.request === undefined ? call.fingerprint : hashText(`${call.url.origin} ${sotto.request}`);
    const claim = takeClaim(book, call, request, sotto.key);
    try {
      return await this.#pay({ call, request, book, claim, onProgress: sotto.onProgress ?? this.#options.onProgress });
    } catch (error) {
      call.signal?.throwIfAborted();
      throw error;
    } finally {
      claim.release();
    }
  }

  async #pay(paying: Paying): Promise<Response> {
    const { call, book, claim } = paying;
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
    const response = await call.send();
    if (!isChallenge(response)) return response;
    const challenge = await readChallenge(call, response, this.#wallet, this.#checked.services);
    return this.#show(paying, await this.#buy(paying, challenge), challenge.url);
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

  async #buy(paying: Paying, challenge: Challenge): Promise<PaidPurchase> {
    const { call, book, claim, onProgress } = paying;
    const { instructions, price, service: url } = challenge;
    const resourceUrl = instructions.metadata.resource;
    const tell = (stage: PurchaseStage) => onProgress?.({ stage, resourceUrl, price });
    tell("challenge");
    const { recipient: paid, zkProof } = instructions.payment;
    const { wallet, shieldedAddress } = paid;
    const offer = await payableOffer(challenge, this.#wallet, this.#checked.limits);
    const { host } = offer;
    const service = this.#service(url);
    const recipient = { wallet, shieldedAddress };
    const request: PurchaseRequest = {
      recipient,
      price,
      resourceUrl,
      host,
      request: paying.request,
      limits: this.#checked.limits,
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
    const context = this.#context(paying, service, record);
    return closeIfUnpaid(context, async () => {
      await this.#split(service, call.signal, () => tell("split"));
      return resume(context, claim.release);
    });
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

  #context({ book, call, onProgress }: Paying, service: SottoService, record: PurchaseRecord): Context {
    const { fundsTimeoutMs, chainTimeoutMs, merge } = this.#options;
    const options: PurchaseOptions = { signal: call.signal, onProgress, fundsTimeoutMs, chainTimeoutMs, merge };
    return { wallet: this.#wallet, service, book, options, record };
  }

  #show({ call, onProgress }: Paying, paid: PaidPurchase, url: URL): Promise<Response> {
    const { retryDelayMs } = this.#options;
    return showProof(call, paid, { onProgress, url, now: () => this.#wallet.now(), retryDelayMs });
  }
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
