// Decides on a request: what it costs, and which of the paywall's methods pays for it.
import type { EthCall, PaymentInstructions, PaymentUses } from "@sotto/protocol";
import { codeOf } from "../errors.ts";
import { CheckUnavailable } from "../outcome.ts";
import type { FixedQuote, PaywallRequest } from "../routes/options.ts";
import { type Prices, quoteOf } from "../routes/prices.ts";
import { parseTarget } from "../routes/target.ts";
import type { AttachmentCore } from "./attachment.ts";
import { Attachments } from "./attachments.ts";
import type { Config } from "./config.ts";
import { isPreflight, preflightHeaders, responseHeaders } from "./cors.ts";
import type { PaywallEvent } from "./events.ts";
import { withMeter, withSafeEnd } from "./metering.ts";
import type { Offer, OfferTerms, PaywallCore, PeekBody, RequestTerms } from "./method.ts";
import { headerNames, Methods } from "./methods.ts";
import { challengeOf, type NamedOffer } from "./offers.ts";
import type { Opening } from "./opening.ts";
import { isNavigation, PAGE_HEADERS, renderPage } from "./page.ts";
import type { PoolToken } from "./pool-token.ts";
import { PrivatePayments } from "./private.ts";
import { PublishedSchedule } from "./published.ts";
import { reportRefusal } from "./refusal.ts";
import * as responses from "./responses.ts";
import type { ServerClock } from "./server-clock.ts";
import type { Decision, MethodHeader, MethodPath, OpenAttachments, Paywall } from "./types.ts";

export interface PaywallParts {
  readonly config: Config;
  readonly prices: Prices;
  readonly report: (event: PaywallEvent) => void;
  readonly clock: () => number;
  readonly serverClock: Pick<ServerClock, "problem">;
  readonly uses: PaymentUses;
  /** @param check the checks of the methods, which belong to the first request to the chain */
  readonly createOpening: (check: (call: EthCall, token: PoolToken) => Promise<void>) => Opening;
  readonly end: () => Promise<void>;
}

export class CorePaywall implements Paywall {
  readonly #parts: PaywallParts;
  readonly #payments: PrivatePayments;
  /** Undefined if the paywall has a lasting address. */
  readonly #published: PublishedSchedule | undefined;
  /** Vary of responses that concern a payment: the headers of the option's methods and attachments. */
  readonly #vary: string;
  /** Quotes that methods gave before the paywall was open. */
  readonly #quotes: FixedQuote[] = [];
  // `open` sets these three. While a method opens, it gets this paywall without them, and may use it only for later requests.
  #methods!: Methods;
  #attachments!: Attachments;
  #opening!: Opening;
  #ending: Promise<void> | undefined;

  private constructor(parts: PaywallParts) {
    this.#parts = parts;
    this.#payments = new PrivatePayments({
      ...parts,
      opening: () => this.#opening,
      attachments: () => this.#attachments,
      paid: this.#paid.bind(this),
    });
    const { months } = parts.config.recipients;
    this.#published = months === undefined ? undefined : new PublishedSchedule(months.schedule);
    this.#vary = headerNames(parts.config.methods, parts.config.attachments).join(", ");
  }

  /** @throws PaywallError INVALID_OPTION, the errors of the methods */
  static async open(parts: PaywallParts): Promise<CorePaywall> {
    const paywall = new CorePaywall(parts);
    paywall.#methods = await Methods.open(parts.config.methods, paywall.#core());
    try {
      paywall.#attachments = await Attachments.open(parts.config.attachments, paywall.#attachmentCore());
    } catch (error) {
      await paywall.#methods.close();
      throw error;
    }
    paywall.#opening = parts.createOpening((call, token) => paywall.#assertSigned(call, token));
    return paywall;
  }

  #core(): PaywallCore {
    const { config, report, clock } = this.#parts;
    const { origin, service, recipients, deployment, storeUrl } = config;
    const { wallet, addresses, months } = recipients;
    const payments = this.#payments;
    return {
      ...{ origin, service, wallet, addresses, deployment, storeUrl, clock, report },
      schedule: months?.schedule,
      assertQuote: this.#assertQuote.bind(this),
      addressAt: recipients.addressAt.bind(recipients),
      acceptedAt: recipients.acceptedAt.bind(recipients),
      challenge: this.#challenge.bind(this),
      paid: this.#paid.bind(this),
      verify: payments.verify.bind(payments),
      verifyAgain: payments.verifyAgain.bind(payments),
      opened: payments.opened.bind(payments),
      verifyProofs: async (payment) => {
        if (this.#ending === undefined) return payments.verifyProofs(payment);
        // Nothing would answer the request any more, so its payment must not be settled.
        reportRefusal(new CheckUnavailable("PAYWALL_CLOSED"), report);
        return "unavailable";
      },
    };
  }

  #attachmentCore(): AttachmentCore {
    const { config, report, clock } = this.#parts;
    const { origin, deployment } = config;
    return { origin, deployment, clock, report, verify: (...proof) => this.#payments.verifyAttached(...proof) };
  }

  async #assertSigned(call: EthCall, token: PoolToken): Promise<void> {
    await this.#methods.assertSigned(call, token);
    for (const quote of [...this.#parts.prices.quotes, ...this.#quotes]) this.#methods.assertQuote(quote, token);
  }

  #assertQuote(quote: FixedQuote): void {
    // While a method opens, there is no opening yet.
    const token = (this.#opening as Opening | undefined)?.knownToken;
    if (token === undefined) this.#quotes.push(quote);
    else this.#methods.assertQuote(quote, token);
  }

  get uses(): PaymentUses {
    return this.#parts.uses;
  }

  get attachments(): OpenAttachments {
    return this.#attachments;
  }

  get ready(): Promise<void> {
    return this.#opening.ready;
  }

  /** Settles with the first attempt to reach chain and service. Rejects on a permanent error. */
  get attempted(): Promise<void> {
    return this.#opening.attempted;
  }

  get answersPreflights(): boolean {
    return this.#parts.config.cors !== undefined;
  }

  get removedHeaders(): readonly MethodHeader[] {
    return this.#methods.removedHeaders;
  }

  get paths(): readonly MethodPath[] {
    const published = this.#published === undefined ? [] : [this.#published.path];
    return [...published, ...this.#methods.paths];
  }

  async decide(request: PaywallRequest): Promise<Decision> {
    const { cors, page } = this.#parts.config;
    if (cors !== undefined && isPreflight(request)) {
      this.#parts.report({ event: "preflight" });
      return { kind: "preflight", headers: preflightHeaders(cors, request) };
    }
    let decision = await this.#decideOrRefuse(request);
    // Set on every 402, JSON included: a cache must not serve the page to programs, or JSON to browsers.
    if (page !== undefined && responses.isPaymentRequired(decision))
      decision = withHeaders(decision, { vary: "Sec-Fetch-Dest" });
    if (this.#vary !== "" && decision.headers?.["cache-control"] === "no-store")
      decision = withHeaders(decision, { vary: this.#vary });
    return cors === undefined ? decision : withHeaders(decision, responseHeaders(cors, request));
  }

  async #decideOrRefuse(request: PaywallRequest): Promise<Decision> {
    try {
      if (this.#ending !== undefined) return responses.unavailable();
      return await this.#decide(request);
    } catch (error) {
      this.#parts.report({ event: "trouble", reason: codeOf(error), error });
      return responses.unavailable();
    }
  }

  async #decide(request: PaywallRequest): Promise<Decision> {
    const { config, prices, report } = this.#parts;
    const target = parseTarget(config.origin, request.target);
    if (target === undefined) {
      report({ event: "malformed" });
      return responses.badTarget();
    }
    const resource = config.origin + target.target;
    const published = this.#published?.answer(request, target.target);
    if (published !== undefined) return published;
    // The constant paths of methods come before routes and prices.
    const owner = this.#methods.at(target.target);
    if (owner?.answer !== undefined) {
      // Until then, the checks of the methods have not run.
      const token = await this.#opening.token();
      return token === undefined ? this.#notOpen() : owner.answer(request, { target, resource, token });
    }
    const quoted = prices.isFree(request.method, target) ? "free" : await prices.of(request, target);
    if (quoted === "free") {
      report({ event: "free" });
      return { kind: "free" };
    }
    const token = await this.#opening.token();
    if (token === undefined) return this.#notOpen();
    const [price, quote] = [prices.amount(quoted, token.decimals), quoteOf(quoted)];
    const terms = { target, resource, token, price, ...(quote && { quote }) };
    const decision = await withMeter(await this.#charge(request, terms), terms);
    return withSafeEnd(decision, (error) => report({ event: "trouble", reason: codeOf(error), error }));
  }

  /** The decision of the first method that the request is paid with. */
  async #charge(request: PaywallRequest, terms: RequestTerms): Promise<Decision> {
    const { report } = this.#parts;
    const own = await this.#payments.decide(request, terms);
    if (own !== undefined) return responses.isPaymentRequired(own) ? this.#withChallenges(own, request, terms) : own;
    try {
      for (const { open } of this.#methods.all) {
        const decision = await open.decide?.(request, terms);
        if (decision !== undefined) return decision;
      }
    } catch (error) {
      if (error instanceof responses.Refusal) {
        report({ event: "malformed" });
        return error.answer;
      }
      const retryAfter = reportRefusal(error, report);
      const answer = await this.#challenge(request, terms);
      if (!responses.isPaymentRequired(answer)) return answer;
      return { ...answer, headers: { ...answer.headers, ...responses.retry(retryAfter) } };
    }
    return this.#challenge(request, terms);
  }

  #notOpen(): Decision {
    this.#parts.report({ event: "unavailable", reason: this.#opening.failure });
    return responses.opening();
  }

  #paid(...[payment, finish, ended]: Parameters<PaywallCore["paid"]>): Decision {
    const { report } = this.#parts;
    return {
      kind: "paid",
      payment,
      headers: { ...responses.HEADERS },
      finish: async (outcome) => {
        await finish(outcome);
        report({ event: "finished", status: typeof outcome === "string" ? 0 : outcome });
      },
      ended: ended && (async (end) => ended(end)),
    };
  }

  async #challenge(request: PaywallRequest, terms: RequestTerms): Promise<responses.Refused> {
    const { config, report } = this.#parts;
    let own: Offer;
    try {
      own = await this.#payments.offer(offered(request, terms));
    } catch (error) {
      if (error instanceof responses.Refusal) return error.answer;
      throw error;
    }
    const offers = await this.#offers(request, terms);
    report({ event: "challenged" });
    const { asked } = this.#attachments;
    const answer = { ...challengeOf(own, offers, asked, this.#onInvalid), contentType: contentTypeOf(offers, request) };
    if (config.page === undefined || !isNavigation(request)) return answer;
    return responses.withPage(
      answer,
      PAGE_HEADERS,
      renderPage(config.page, answer.body as PaymentInstructions, config.service),
    );
  }

  /** Clients of the private payment can still pay. */
  readonly #onInvalid = (error: unknown): void =>
    this.#parts.report({ event: "trouble", reason: "OFFER_FAILED", error });

  /** The offers of the methods that may pay; one that throws is left out. */
  async #offers(request: PaywallRequest, terms: RequestTerms): Promise<readonly NamedOffer[]> {
    const asked = offered(request, terms);
    const peek: PeekBody = async (maxBytes) => request.peekBody?.(maxBytes);
    const offers: NamedOffer[] = [];
    for (const { name, open } of this.#methods.all)
      if (terms.methods?.includes(name) !== false)
        try {
          const offer = await open.offer?.(asked, peek);
          if (offer !== undefined) offers.push({ name, offer });
        } catch (error) {
          this.#onInvalid(error);
        }
    return offers;
  }

  /**
   * The refusal of a private payment, with the challenges of the methods for WWW-Authenticate: there are clients that take
   * a 402 without one for an error of the server.
   */
  async #withChallenges(
    refusal: responses.Refused,
    request: PaywallRequest,
    terms: RequestTerms,
  ): Promise<responses.Refused> {
    const offers = await this.#offers(request, terms);
    const only = offers.map(({ name, offer: { authenticate } }) => ({ name, offer: { authenticate } }));
    const { "www-authenticate": challenges = "" } = challengeOf({}, only, {}, this.#onInvalid).headers;
    if (challenges === "") return refusal;
    return { ...refusal, headers: { ...refusal.headers, "www-authenticate": challenges } };
  }

  close(): Promise<void> {
    this.#opening.close();
    this.#ending ??= this.#parts
      .end()
      .finally(() => this.#attachments.close())
      .finally(() => this.#methods.close());
    return this.#ending;
  }
}

/** What a 402 of a request is for. */
const offered = ({ method }: PaywallRequest, { methods: _, ...terms }: RequestTerms): OfferTerms => ({
  ...terms,
  method,
});

/** The media type of a 402: that of the first method whose header the request has. */
function contentTypeOf(offers: readonly NamedOffer[], request: PaywallRequest): string | undefined {
  const types = offers.map(({ offer }) => offer.contentType);
  return types.find((one) => one !== undefined && request.header(one.header.toLowerCase()).length > 0)?.type;
}

function withHeaders(decision: Decision, headers: Readonly<Record<string, string>>): Decision {
  return { ...decision, headers: responses.mergeHeaders(decision.headers ?? {}, headers) };
}
