import { addressOwnerTag, MONTH_GRACE_MS } from "@sotto/protocol";
import { type PrepareRequest, SottoService, type Wallet } from "@sotto/wallet";
import { hexlify, randomBytes } from "ethers";
import { assertRecipientPhone } from "../phone/recipient.ts";
import { askedAttachments, chooseNotes, prepareShown } from "../purchase/attach.ts";
import { bookOf, type PurchaseBook } from "../purchase/book.ts";
import type { Context, ContextOptions } from "../purchase/context.ts";
import { PurchaseError } from "../purchase/errors.ts";
import { hashText } from "../purchase/hash.ts";
import { assertHeaderLimit } from "../purchase/header.ts";
import { assertWithinLimit } from "../purchase/limits.ts";
import { sweepPurchases } from "../purchase/open.ts";
import type { PaidPurchase } from "../purchase/paid.ts";
import type { PurchaseStage } from "../purchase/progress.ts";
import { assertOpen, begin, type PurchaseRequest, parseRequest, resume, sameTerms } from "../purchase/purchase.ts";
import type { PurchaseRecord, PurchaseTerms } from "../purchase/record.ts";
import { NoteSplitter } from "../purchase/split.ts";
import { abandon, cannotSettle } from "../purchase/unpaid.ts";
import { type Call, PROOF_HEADER } from "./call.ts";
import { type Challenge, isChallenge, parseChallenge, type ReadChallenge, receiveChallenge } from "./challenge.ts";
import { envelopeOf, type Foreign, presenterOf, Wrapped } from "./envelope.ts";
import { FetchError } from "./errors.ts";
import { followSchedule, type PayableAddress } from "./follow-schedule.ts";
import type { OpenMethod, PayingCall, PayingCore, PrivatePurchase } from "./method.ts";
import { MethodCall, type Paying } from "./method-call.ts";
import { type Offer, payableOffer } from "./offer.ts";
import { type CheckedOptions, PRIVATE_NAME, type WrapOptions } from "./options.ts";
import { Preparer } from "./preparer.ts";
import { pinHost } from "./recipient.ts";
import { assertServerClock } from "./server-clock.ts";
import { type Presenter, showProof } from "./show.ts";

/** The wallet and price that the 402 of a purchase must name, and the tokens that the program is asked to confirm. */
type Expected = Pick<PrivatePurchase, "wallet" | "price" | "tokens">;

/** The purchase of one call, claimed so that no other call works on it. */
interface Claim {
  readonly book: PurchaseBook;
  readonly id: string;
  readonly release: () => void;
}

/** A paid purchase, and the context in which its proof is presented. */
interface Paid {
  readonly context: Context;
  readonly purchase: PaidPurchase;
}

/** Name and header of the private payment. */
export const PRIVATE = { name: PRIVATE_NAME, headers: [PROOF_HEADER], paysKeyed: true } as const;

/** The private payment: a method that may use the whole wallet. */
export class PrivatePayment implements OpenMethod {
  readonly #send: typeof fetch;
  readonly #wallet: Wallet;
  readonly #options: WrapOptions;
  readonly #checked: CheckedOptions;
  readonly #splitter: NoteSplitter | undefined;
  readonly #preparer: Preparer | undefined;
  readonly #claims = new WeakMap<PayingCall, Claim>();

  constructor(send: typeof fetch, wallet: Wallet, options: WrapOptions, checked: CheckedOptions) {
    this.#send = send;
    this.#wallet = wallet;
    this.#options = options;
    this.#checked = checked;
    this.#splitter = options.split === undefined ? undefined : new NoteSplitter(wallet, options.split);
    this.#preparer = options.prepare === true ? new Preparer(wallet) : undefined;
  }

  /** @param paying the methods of this call, one of which may have to present the proof */
  async resume(call: PayingCall, paying: readonly Paying[] = []): Promise<Response | undefined> {
    const claim = await this.#claim(call);
    this.#claims.set(call, claim);
    const paid = await this.#resume(call, claim, undefined, paying);
    // The proof is only for the URL that sent the 402, which may be the target of a redirect.
    return paid && this.#show(call, paid, new URL(paid.context.record.resourceUrl), paying);
  }

  /** @param foreign the terms of the challenge, if they are not those of x402-zk */
  async pay(call: PayingCall, challenge: ReadChallenge, foreign?: Foreign): Promise<Response> {
    const terms = termsOf(challenge);
    this.#preparer?.asked(challenge.url.host, terms);
    const paid = await this.#buy(call, this.#claims.get(call)!, challenge, this.#send, undefined, foreign);
    const answer = await this.#show(call, paid, challenge.url, foreign === undefined ? [] : [foreign.by]);
    const { before, attachments: asked } = paid.context.record;
    const { attachments } = this.#checked;
    // At the end of the month, the server changes its address.
    this.#preparer?.paid(
      challenge.url.host,
      { ...terms, before: before && before - MONTH_GRACE_MS },
      {
        choose: () => chooseNotes(attachments, asked, { waitedMs: 0 }),
        prepare: (note) => prepareShown(attachments, asked, note),
      },
    );
    return answer;
  }

  paidOtherwise(challenge: Challenge): void {
    this.#preparer?.asked(challenge.url.host, termsOf(challenge));
  }

  ended(call: PayingCall): void {
    this.#claims.get(call)?.release();
  }

  /** Asks the program before tokens are shown, with the same checked terms as before a payment. */
  async confirm(...[challenge, tokens, signal]: Parameters<PayingCore["confirm"]>): Promise<void> {
    if (this.#options.confirmPayment === undefined) return;
    const offer = await payableOffer(challenge, this.#wallet, this.#checked.limits, signal);
    await this.#confirm({ ...offer, reserved: true, tokens });
  }

  /**
   * Pays for something that a method needs, as an ordinary purchase: its price counts against the limits per day, and the
   * limit for one request applies to the value of each token.
   * @param send the fetch of the request
   */
  async payFor(request: Call, key: string, expected: Expected, send: typeof fetch): Promise<PaidPurchase> {
    const { fingerprint } = request;
    const call = new MethodCall(request, PRIVATE, {
      request: fingerprint,
      key,
      onProgress: undefined,
      retryDelayMs: undefined,
    });
    const claim = await this.#claim(call);
    try {
      const begun = await this.#resume(call, claim, expected);
      if (begun !== undefined) return begun.purchase;
      const sent = this.#wallet.now();
      const response = await request.send();
      if (!isChallenge(response)) {
        await response.body?.cancel().catch(() => undefined);
        const { origin } = call.url;
        const text = `${origin} does not ask for a private payment, but answers ${response.status}; nothing was paid`;
        throw new FetchError("TERMS_NOT_OFFERED", text, { origin });
      }
      const received = await receiveChallenge(request, response, this.#wallet);
      const challenge = await parseChallenge(request, received, this.#wallet, this.#checked.services, sent);
      return (await this.#buy(call, claim, challenge, send, expected)).purchase;
    } catch (error) {
      claim.release();
      call.signal?.throwIfAborted();
      throw error;
    }
  }

  /**
   * Claims the purchase of this call: with a key, the purchase that the key names; without one, an unfinished purchase of
   * an equal request, or a new purchase. Nothing is awaited before the claim, so two calls never claim the same purchase.
   * @throws PurchaseError PURCHASE_IN_PROGRESS
   */
  async #claim({ key, url, request }: PayingCall): Promise<Claim> {
    const book = await bookOf(this.#wallet.store);
    if (key !== undefined && (typeof key !== "string" || key === "" || key.length > 512))
      throw new FetchError("FETCH_OPTION_INVALID", "key must be a text of 1 to 512 characters");
    const random = () => hexlify(randomBytes(16)).slice(2);
    const named = key === undefined ? undefined : hashText(`fetch ${url.origin} ${key}`);
    const id = named ?? book.unfinished(request)?.id ?? random();
    return { book, id, release: book.claim(id) };
  }

  /** Finishes the purchase that this call resumes, if it may already be paid. */
  async #resume(
    call: PayingCall,
    claim: Claim,
    expected?: Expected,
    paying: readonly Paying[] = [],
  ): Promise<Paid | undefined> {
    await assertOpen(claim.book, claim.id);
    const record = await this.#mayBePaid(call, claim);
    if (record === undefined) return undefined;
    if (record.envelope !== undefined && record.problem === null)
      presenterOf(record.envelope, paying).call.assertPresentable(record.envelope.header);
    if (record.settled === null) await this.#confirm({ ...offerOf(record), tokens: expected?.tokens });
    // A service that is no longer allowed gets no new payment, but the proof of a settled payment is still presented.
    const service = this.#service(record.service, record.settled !== null);
    const context = this.#context(call, claim, service, record, expected !== undefined);
    return { context, purchase: await resume(context, claim.release) };
  }

  /**
   * The unfinished purchase that this call resumes, if it may already be paid. In that case, the server is not asked
   * first.
   */
  async #mayBePaid({ request, signal }: PayingCall, { book, id }: Claim): Promise<PurchaseRecord | undefined> {
    const record = book.get(id);
    if (record === undefined) return undefined;
    if (record.request !== request)
      throw new PurchaseError("PURCHASE_MISMATCH", "the purchase with this key is for another request", {
        id: record.id,
      });
    if (record.settled !== null || record.problem !== null) return record;
    // A proof that never left this process cannot have settled.
    if (record.sent.length === 0) return undefined;
    await this.#wallet.scan({ signal });
    return cannotSettle(this.#wallet, record) ? undefined : record;
  }

  async #buy(
    call: PayingCall,
    claim: Claim,
    challenge: ReadChallenge,
    send: typeof fetch,
    expected?: Expected,
    foreign?: Foreign,
  ): Promise<Paid> {
    const { book, id, release } = claim;
    const envelope = foreign && envelopeOf(foreign);
    const { instructions, price, service: url } = challenge;
    const resourceUrl = instructions.metadata.resource;
    await assertServerClock(this.#wallet, challenge, call.signal);
    const tell = (stage: PurchaseStage) => call.tell({ stage, resourceUrl, price });
    tell("challenge");
    const { recipient: paid, zkProof } = instructions.payment;
    const { wallet, shieldedAddress } = paid;
    if (expected !== undefined) {
      assertSame(expected, challenge);
      assertWithinLimit(this.#checked.limits, expected.tokens.value);
    }
    const limits = expected === undefined ? this.#checked.limits : { ...this.#checked.limits, perRequest: undefined };
    const offer = {
      ...(await payableOffer(challenge, this.#wallet, limits, call.signal)),
      tokens: expected?.tokens,
      stated: foreign?.terms.stated,
    };
    const { host } = offer;
    const address = await this.address(challenge, call.signal, send);
    const service = this.#service(url);
    const recipient = { wallet, shieldedAddress };
    const request: PurchaseRequest = {
      recipient,
      before: address.before,
      price,
      resourceUrl,
      host,
      request: call.request,
      limits,
      maxHeaderLength: zkProof.maxHeaderLength,
    };
    const terms = parseRequest(service, request);
    const offers = foreign === undefined ? challenge.offers : (foreign.terms.offers ?? new Map());
    const attachments = askedAttachments(this.#checked.attachments, offers, book.get(id)?.attachments);
    const begun = await this.#begun(book, id, terms, request, { envelope, attachments });
    await this.#confirm({ ...offer, reserved: begun?.reserved != null });
    await this.#assertPhone(challenge, call.signal);
    if (this.#options.pinHosts !== false)
      await pinHost(
        this.#wallet.store,
        host,
        { wallet, ownerTag: String(addressOwnerTag(shieldedAddress)) },
        this.#options.confirmRecipient,
      );
    await address.keep();
    tell("recipient");
    const record = begun ?? (await begin(this.#wallet, book, id, request, terms, { envelope, attachments }));
    const context = this.#context(call, claim, service, record, expected !== undefined);
    const split = () => this.#split(service, call.signal, () => tell("split"));
    return { context, purchase: await resume(context, release, split) };
  }

  /** Checks that the address of a challenge may be paid now. Writes nothing. @throws the errors of `followSchedule` */
  address(
    { instructions, url }: Challenge,
    signal: AbortSignal | undefined,
    send = this.#send,
  ): Promise<PayableAddress> {
    const { recipient, schedule } = instructions.payment;
    return followSchedule(this.#wallet, { ...recipient, schedule }, { origin: url.origin, fetch: send, signal });
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
  async #begun(
    book: PurchaseBook,
    id: string,
    terms: PurchaseTerms,
    { maxHeaderLength, before }: PurchaseRequest,
    asked: Pick<PurchaseRecord, "envelope" | "attachments">,
  ): Promise<PurchaseRecord | undefined> {
    await sweepPurchases(this.#wallet, book);
    const known = book.get(id);
    if (known !== undefined && sameTerms(known, terms)) {
      const { envelope, attachments = [] } = asked;
      const same =
        JSON.stringify([known.envelope, known.attachments ?? []]) === JSON.stringify([envelope, attachments]);
      if (same && known.before === before) return known;
      // The server asks for the same payment with other terms or another end; it takes the proof in these terms only.
      const { envelope: _, attachments: __, ...rest } = known;
      const headerLimit = assertHeaderLimit(maxHeaderLength);
      const changes = {
        before,
        headerLimit,
        ...(envelope && { envelope }),
        ...(attachments.length > 0 && { attachments }),
      };
      return book.update({ ...rest, ...changes });
    }
    if (known === undefined) return undefined;
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

  async #assertPhone({ instructions }: Challenge, signal: AbortSignal | undefined): Promise<void> {
    const { phone, serviceFetch = this.#send } = this.#options;
    if (this.#checked.registry === undefined) return;
    const { chainId } = this.#wallet.pool;
    const registry = new SottoService(this.#checked.registry, { fetch: serviceFetch, chainId });
    await assertRecipientPhone(this.#wallet, registry, instructions.payment.recipient, { ...phone, signal });
  }

  #context(call: PayingCall, { book }: Claim, service: SottoService, record: PurchaseRecord, anyAge: boolean): Context {
    const { fundsTimeoutMs, chainTimeoutMs, merge } = this.#options;
    const onProgress: ContextOptions["onProgress"] = (progress) => call.tell(progress);
    const { attachments } = this.#checked;
    const waits = { fundsTimeoutMs, chainTimeoutMs };
    const options: ContextOptions = { signal: call.signal, onProgress, ...waits, merge, anyAge, attachments };
    return { wallet: this.#wallet, service, book, options, record };
  }

  /** What a purchase shows, as far as this paying fetch has its attachments. */
  #attached({ attached }: PaidPurchase): Readonly<Record<string, string>> {
    const known = this.#checked.attachments.map(({ header }) => header);
    return Object.fromEntries(Object.entries(attached).filter(([header]) => known.includes(header)));
  }

  #show(call: PayingCall, { context, purchase }: Paid, url: URL, paying: readonly Paying[]): Promise<Response> {
    const { envelope } = context.record;
    const presenter: Presenter =
      envelope === undefined
        ? {
            call,
            payment: () => ({ name: PROOF_HEADER, value: purchase.header, also: this.#attached(purchase) }),
            renew: async () => false,
            answered: () => undefined,
          }
        : new Wrapped(presenterOf(envelope, paying), context, purchase, this.#attached(purchase));
    return showProof(presenter, purchase, url, () => this.#wallet.now());
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

/** @throws FetchError TERMS_NOT_OFFERED if a 402 is for another wallet or price than the method expects */
function assertSame({ wallet, price }: Expected, { instructions, price: asked, url }: Challenge): void {
  const found = instructions.payment.recipient.wallet;
  if (found === wallet && asked === price) return;
  const what = found === wallet ? `asks ${asked} base units instead of ${price}` : `is to be paid to ${found}`;
  throw new FetchError("TERMS_NOT_OFFERED", `the purchase at ${url.origin} ${what}; nothing was paid`, {
    origin: url.origin,
  });
}
