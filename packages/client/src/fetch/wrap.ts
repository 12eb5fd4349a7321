import { hexlify, randomBytes } from "ethers";
import { checkRecipientPhone } from "../phone/recipient.ts";
import { bookOf, type PurchaseBook } from "../purchase/book.ts";
import type { Context, PurchaseOptions } from "../purchase/context.ts";
import { PurchaseError } from "../purchase/errors.ts";
import { hashText } from "../purchase/hash.ts";
import { checkHeaderLimit } from "../purchase/header.ts";
import { expectWithin } from "../purchase/limits.ts";
import { sweepPurchases } from "../purchase/open.ts";
import type { PaidPurchase } from "../purchase/paid.ts";
import type { OnProgress, PurchaseStage } from "../purchase/progress.ts";
import { begin, checkRequest, expectOpen, goOn, type PurchaseRequest, sameTerms } from "../purchase/purchase.ts";
import type { PurchaseRecord, PurchaseTerms } from "../purchase/record.ts";
import { NoteSplitter } from "../purchase/split.ts";
import { abandon, cannotSettle, closeIfUnpaid } from "../purchase/unpaid.ts";
import { SottoService } from "../service/service.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { type Call, captureCall } from "./call.ts";
import { type Challenge, isChallenge, readChallenge } from "./challenge.ts";
import { FetchError } from "./errors.ts";
import { type CheckedOptions, checkOptions, type PayingFetch, type PayingInit, type WrapOptions } from "./options.ts";
import { checkPin, checkRecipient } from "./recipient.ts";
import { showProof } from "./show.ts";

const BODY_LIMIT = 4 << 20;

/**
 * A fetch that pays: whatever answers 402 with `WWW-Authenticate: x402-zk` is paid within the limits, and asked again with
 * the proof. All else is as fetch has it.
 * @throws FetchError FETCH_OPTION_INVALID; ServiceError SERVICE_NOT_ALLOWED
 */
export function wrapFetch(send: typeof fetch, wallet: Wallet, options: WrapOptions): PayingFetch {
  const payer = new Payer(send, wallet, options);
  return (input, init) => payer.fetch(input, init);
}

class Payer {
  readonly #send: typeof fetch;
  readonly #wallet: Wallet;
  readonly #options: WrapOptions;
  readonly #checked: CheckedOptions;
  readonly #splitter: NoteSplitter | undefined;

  constructor(send: typeof fetch, wallet: Wallet, options: WrapOptions) {
    if (typeof send !== "function") throw new FetchError("FETCH_OPTION_INVALID", "the first argument must be a fetch");
    // Called as a function: a browser's fetch refuses any other `this` than the window.
    this.#send = (input, init) => send(input, init);
    this.#wallet = wallet;
    this.#options = options;
    this.#checked = checkOptions(options, wallet.pool.chainId);
    this.#splitter = options.split === undefined ? undefined : new NoteSplitter(wallet, options.split);
  }

  async fetch(input: RequestInfo | URL, { sotto = {}, ...init }: PayingInit = {}): Promise<Response> {
    const call = await captureCall(this.#send, input, init, this.#options.bodyLimit ?? BODY_LIMIT);
    // Whoever brings a proof of its own pays by itself.
    if (call.carriesProof) return call.send();
    const book = await bookOf(this.#wallet.store);
    const claim = takeClaim(book, call, sotto.key);
    try {
      return await this.#pay({ call, book, claim, onProgress: sotto.onProgress ?? this.#options.onProgress });
    } catch (error) {
      call.signal?.throwIfAborted();
      throw error;
    } finally {
      claim.release();
    }
  }

  async #pay(paying: Paying): Promise<Response> {
    const { call, book, claim } = paying;
    await expectOpen(book, claim.id);
    const begun = await this.#mayBePaid(paying);
    if (begun !== undefined) {
      // One that is no longer allowed is asked for nothing new; what is paid through it is shown all the same.
      const service = this.#service(begun.service, begun.settled !== null);
      const paid = await goOn(this.#context(paying, service, begun), claim.release);
      // Where its 402 came from, which a redirect may have led to: the proof is for that address and no other.
      return this.#show(paying, paid, new URL(begun.resourceUrl));
    }
    const response = await call.send();
    if (!isChallenge(response)) return response;
    const challenge = await readChallenge(call, response, this.#wallet, this.#checked.services);
    return this.#show(paying, await this.#buy(paying, challenge), challenge.url);
  }

  /** The purchase this call takes up, if it may be paid already: then nothing is asked of the server before. */
  async #mayBePaid({ call, book, claim }: Paying): Promise<PurchaseRecord | undefined> {
    const record = book.get(claim.id);
    if (record === undefined) return undefined;
    if (record.request !== call.fingerprint)
      throw new PurchaseError("PURCHASE_MISMATCH", "the purchase with this key is of another request", {
        id: record.id,
      });
    if (record.settled !== null || record.problem !== null) return record;
    // What nobody else has seen cannot have been paid.
    if (record.sent.length === 0) return undefined;
    await this.#wallet.scan(call.signal ? { signal: call.signal } : {});
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
    // Before anybody is asked to confirm anything.
    checkHeaderLimit(zkProof.maxHeaderLength);
    const { host } = challenge.url;
    expectWithin(this.#checked.limits, price);
    await checkRecipient(challenge, this.#wallet);
    await this.#checkPhone(challenge, call.signal);
    if (this.#options.pinHosts !== false)
      await checkPin(this.#wallet.store, host, wallet, this.#options.confirmRecipient);
    tell("recipient");
    const service = this.#service(url);
    const recipient = { wallet, shieldedAddress };
    const request: PurchaseRequest = {
      ...{ recipient, price, resourceUrl, host, request: call.fingerprint, limits: this.#checked.limits },
      ...(zkProof.maxHeaderLength === undefined ? {} : { maxHeaderLength: zkProof.maxHeaderLength }),
    };
    const record = await this.#record(book, claim.id, request, checkRequest(service, request));
    const context = this.#context(paying, service, record);
    return closeIfUnpaid(context, async () => {
      await this.#split(service, call.signal, () => tell("split"));
      return goOn(context, claim.release);
    });
  }

  /** Makes notes for payments in parallel, if that is asked for and they are missing. */
  async #split(service: SottoService, signal: AbortSignal | undefined, begins: () => void): Promise<void> {
    if (this.#splitter === undefined) return;
    await this.#wallet.scan(signal ? { signal } : {});
    if (!this.#splitter.needed()) return;
    begins();
    await this.#splitter.run(service, signal);
  }

  /** The purchase as it was begun before, where its terms are still the server's; otherwise a new one. */
  async #record(
    book: PurchaseBook,
    id: string,
    request: PurchaseRequest,
    terms: PurchaseTerms,
  ): Promise<PurchaseRecord> {
    await sweepPurchases(this.#wallet, book);
    const known = book.get(id);
    if (known !== undefined && sameTerms(known, terms)) return known;
    if (known !== undefined) await abandon(this.#wallet, book, known);
    return begin(this.#wallet, book, id, request, terms);
  }

  #service(url: string, settled = false): SottoService {
    const { serviceFetch = this.#send } = this.#options;
    const { chainId } = this.#wallet.pool;
    const allow = settled ? {} : { allow: this.#checked.services };
    return new SottoService(url, { fetch: serviceFetch, chainId, ...allow });
  }

  async #checkPhone({ instructions }: Challenge, signal: AbortSignal | undefined): Promise<void> {
    const { phone, serviceFetch = this.#send } = this.#options;
    if (this.#checked.registry === undefined) return;
    const { chainId } = this.#wallet.pool;
    const registry = new SottoService(this.#checked.registry, { fetch: serviceFetch, chainId });
    const options = { ...phone, ...(signal ? { signal } : {}) };
    await checkRecipientPhone(this.#wallet, registry, instructions.payment.recipient, options);
  }

  #context({ book, call, onProgress }: Paying, service: SottoService, record: PurchaseRecord): Context {
    const { fundsTimeoutMs, chainTimeoutMs, merge } = this.#options;
    const options: PurchaseOptions = {
      ...(call.signal ? { signal: call.signal } : {}),
      ...(onProgress ? { onProgress } : {}),
      ...(fundsTimeoutMs === undefined ? {} : { fundsTimeoutMs }),
      ...(chainTimeoutMs === undefined ? {} : { chainTimeoutMs }),
      ...(merge === undefined ? {} : { merge }),
    };
    return { wallet: this.#wallet, service, book, options, record };
  }

  #show({ call, onProgress }: Paying, paid: PaidPurchase, url: URL): Promise<Response> {
    const { retryDelayMs } = this.#options;
    return showProof(call, paid, { onProgress, url, now: () => this.#wallet.now(), retryDelayMs });
  }
}

/** What a call to the paying fetch works with. */
interface Paying {
  call: Call;
  book: PurchaseBook;
  claim: { id: string; release: () => void };
  onProgress: OnProgress | undefined;
}

/**
 * The purchase this call is about: the one its key names; without a key one of an equal request that was not finished,
 * otherwise a new one. It is taken before anything is waited for, so that no two calls take the same.
 * @throws PurchaseError PURCHASE_IN_PROGRESS
 */
function takeClaim(book: PurchaseBook, call: Call, key: string | undefined): Paying["claim"] {
  if (key !== undefined && (typeof key !== "string" || key === "" || key.length > 512))
    throw new FetchError("FETCH_OPTION_INVALID", "key must be a text of 1 to 512 characters");
  const random = () => hexlify(randomBytes(16)).slice(2);
  const named = key === undefined ? undefined : hashText(`fetch ${call.url.origin} ${key}`);
  const id = named ?? book.unfinished(call.fingerprint)?.id ?? random();
  return { id, release: book.claim(id) };
}
