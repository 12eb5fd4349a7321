import { delay } from "@sotto/chain";
import { ANONYMOUS, MAX_AMOUNT, readBody } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { hashText } from "../purchase/hash.ts";
import { assertHeaderLimit } from "../purchase/header.ts";
import { assertWithinLimit } from "../purchase/limits.ts";
import { type Call, captureCall } from "./call.ts";
import {
  BODY_LIMIT as CHALLENGE_LIMIT,
  BODY_MS as CHALLENGE_MS,
  copyOf,
  isChallenge,
  parseChallenge,
  parseForeignTerms,
  type ReadChallenge,
  receiveChallenge,
} from "./challenge.ts";
import type { Foreign } from "./envelope.ts";
import { FetchError } from "./errors.ts";
import type { OpenMethod, OtherChallenge, PayingCore, PayingMethod, PrivatePurchase } from "./method.ts";
import { type CallOptions, MethodCall, type Paying } from "./method-call.ts";
import { type Offer, payableOffer } from "./offer.ts";
import {
  type CheckedOptions,
  type PayingFetch,
  type PayingInit,
  parseMethods,
  parseOptions,
  privatePayment,
  type WrapOptions,
} from "./options.ts";
import type { PaymentHeader } from "./payment-header.ts";
import { PRIVATE, PrivatePayment } from "./private.ts";
import { assertInit } from "./request.ts";
import { assertServerClock, type Exchange } from "./server-clock.ts";

const BODY_LIMIT = 4 << 20;

/**
 * Wraps fetch so that it pays: if a response is 402 with `WWW-Authenticate: x402-zk`, the client pays within the limits
 * and repeats the request with the proof. Otherwise it behaves exactly like fetch.
 * @throws FetchError FETCH_OPTION_INVALID; ServiceClientError SERVICE_NOT_ALLOWED; the errors of opening a method
 */
export function wrapFetch(send: typeof fetch, wallet: Wallet, options: WrapOptions): PayingFetch {
  const payer = new Payer(send, wallet, options);
  return (input, init) => payer.fetch(input, init);
}

/**
 * Opens one method outside a paying fetch, for what it does without a request, such as buying tokens ahead.
 * @param options those of `wrapFetch`; its methods are ignored
 * @throws FetchError FETCH_OPTION_INVALID; ServiceClientError SERVICE_NOT_ALLOWED; the errors of opening the method
 */
export function openMethod<M extends OpenMethod>(
  send: typeof fetch,
  wallet: Wallet,
  options: WrapOptions,
  method: PayingMethod<M>,
): M {
  const [checked] = parseMethods([method]);
  return new Payer(send, wallet, { ...options, methods: [] }).open(checked!);
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
  options: Pick<WrapOptions, "services" | "bodyLimit" | "methods">,
  ...[input, init = {}]: Parameters<typeof fetch>
): Promise<Quote> {
  return new Payer(send, wallet, { ...options, maxPerRequest: MAX_AMOUNT }).quote(input, init);
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

/** A method that is open for this paying fetch. */
interface Opened extends Pick<PayingMethod, "name" | "headers" | "paysKeyed"> {
  readonly open: OpenMethod;
}

class Payer {
  readonly #fetch: typeof fetch;
  readonly #send: typeof fetch;
  readonly #wallet: Wallet;
  readonly #options: WrapOptions;
  readonly #checked: CheckedOptions;
  readonly #private: PrivatePayment;
  /** In the order in which they pay. */
  readonly #methods: readonly Opened[];
  /** Headers of a request that is paid for already. */
  readonly #headers: readonly PaymentHeader[];
  readonly #asks: Readonly<Record<string, string>>;

  constructor(send: typeof fetch, wallet: Wallet, options: WrapOptions) {
    if (typeof send !== "function") throw new FetchError("FETCH_OPTION_INVALID", "the first argument must be a fetch");
    this.#fetch = send;
    // Called as a plain function, because a browser's fetch accepts only the window as `this`.
    this.#send = (input, init) => send(input, init);
    this.#wallet = wallet;
    this.#options = options;
    this.#checked = parseOptions(options, wallet.pool.chainId);
    this.#private = new PrivatePayment(this.#send, wallet, options, this.#checked);
    const { methods } = this.#checked;
    const listed = methods.includes(privatePayment) ? methods : [...methods, privatePayment];
    this.#methods = listed.map((method) =>
      method === privatePayment ? { ...PRIVATE, open: this.#private } : { ...method, open: this.open(method) },
    );
    this.#headers = this.#methods.flatMap(({ headers }) => headers);
    this.#asks = Object.assign({}, ...methods.map(({ asks }) => asks ?? {}));
  }

  /** @param method checked */
  open<M extends OpenMethod>(method: PayingMethod<M>): M {
    return method.open(this.#coreFor(method.name));
  }

  #coreFor(name: string): PayingCore {
    const [wallet, { limits, services }] = [this.#wallet, this.#checked];
    return {
      wallet: {
        store: wallet.store,
        chain: wallet.chain,
        pool: wallet.pool,
        now: () => wallet.now(),
        pastTime: () => wallet.pastTime(),
        derive: async (label, bytes) => {
          if (typeof label === "string" && label.split("/", 1)[0] === name) return wallet.derive(label, bytes);
          throw new FetchError(
            "METHOD_INVALID",
            `the method ${name} derives secrets of labels that begin with ${name}`,
          );
        },
      },
      limits,
      services,
      fetch: this.#fetch,
      confirm: (...offered) => this.#private.confirm(...offered),
      payPrivately: (purchase) => this.#payPrivately(name, purchase),
    };
  }

  async #payPrivately(name: string, { key, url, init, fetch: send, ...asked }: PrivatePurchase) {
    const expected = { ...asked, tokens: { ...asked.tokens } };
    assertPriceOfTokens(name, expected);
    const { method = "GET", headers = {}, body, signal } = init;
    const isolated = {
      ...ANONYMOUS,
      method,
      headers,
      body: body as BodyInit,
      redirect: "manual",
      ...(signal && { signal }),
    } as const;
    const call = await captureCall(send, url, isolated, body.length);
    return this.#private.payFor(call, `${name} ${key}`, expected, send);
  }

  async fetch(input: string | URL | Request, given: PayingInit = {}): Promise<Response> {
    assertInit(given);
    const { sotto = {}, ...init } = given;
    // Methods do not see the caller's headers, body and signal.
    const { dispatcher } = init as { readonly dispatcher?: unknown };
    for (const { open } of this.#methods) open.assertInit?.({ dispatcher });
    const call = await this.#capture(input, init);
    // A request with its own payment is already paid for.
    if (call.carriesPayment) return call.send();
    const { key } = sotto;
    const request = sotto.request === undefined ? call.fingerprint : hashText(`${call.url.origin} ${sotto.request}`);
    const { retryDelayMs, onProgress } = this.#options;
    const options = { request, key, onProgress: sotto.onProgress ?? onProgress, retryDelayMs };
    const paying = this.#paying(call, options);
    try {
      return await this.#pay(call, paying);
    } catch (error) {
      call.signal?.throwIfAborted();
      throw error;
    } finally {
      for (const { method, call } of paying) await ignoringErrors(() => method.ended?.(call));
    }
  }

  #capture(input: string | URL | Request, init: RequestInit): Promise<Call> {
    const limit = this.#options.bodyLimit ?? BODY_LIMIT;
    return captureCall(this.#send, input, init, limit, { headers: this.#headers, asks: this.#asks });
  }

  #paying(call: Call, options: CallOptions): readonly Paying[] {
    const attached = this.#checked.attachments.map(({ header }) => header);
    return this.#methods
      .filter(({ paysKeyed }) => options.key === undefined || paysKeyed === true)
      .map((method) => {
        // Those that present private payments, in any format, show what is attached to them.
        const isPrivate = method.open === this.#private || method.open.wrap !== undefined;
        const own = isPrivate ? { ...options, attached } : options;
        return { name: method.name, method: method.open, call: new MethodCall(call, method, own) };
      });
  }

  /** Resumes with the private payment first, because it may have cost something. */
  async #pay(call: Call, paying: readonly Paying[]): Promise<Response> {
    const privately = paying.find(({ method }) => method === this.#private)!;
    const resumed = await this.#private.resume(privately.call, paying);
    if (resumed !== undefined) return resumed;
    for (const each of paying) {
      const begun = each === privately ? undefined : await each.method.resume?.(each.call);
      if (begun !== undefined) return begun;
    }
    const asked = await this.#ask(call);
    const { response, challenge } = asked;
    if (response.status !== 402) return response;
    if (challenge !== undefined && paying.length > 1) assertWithinLimit(this.#checked.limits, challenge.price);
    for (const each of paying) {
      const answer = await this.#payWith(each, privately, call, asked);
      if (answer === undefined) continue;
      await response.body?.cancel().catch(() => undefined);
      for (const { method } of challenge === undefined ? [] : paying)
        if (method !== each.method) await ignoringErrors(() => method.paidOtherwise?.(copyOf(challenge!)));
      return answer;
    }
    return unpaid(asked);
  }

  /** Sends the request, and reads the challenge if the response is one of x402-zk. */
  async #ask(call: Call): Promise<Asked> {
    const [wallet, { services }] = [this.#wallet, this.#checked];
    const sent = wallet.now();
    const response = await call.send();
    const exchange = { sent, answered: wallet.now() };
    if (!isChallenge(response)) {
      const body = () => readBody(response.clone(), CHALLENGE_LIMIT, AbortSignal.timeout(CHALLENGE_MS));
      return { response, challenge: undefined, exchange, body, problems: [] };
    }
    const received = await receiveChallenge(call, response, wallet);
    const challenge = await parseChallenge(call, received, wallet, services, sent);
    const body = async () => received.body.slice();
    return { response: received.response, challenge, exchange, body, problems: [] };
  }

  async #payWith(each: Paying, privately: Paying, call: Call, asked: Asked): Promise<Response | undefined> {
    const { challenge } = asked;
    const foreign = await this.#foreign(each, call, asked);
    if (foreign !== undefined) return this.#private.pay(privately.call, foreign.challenge, foreign);
    if (challenge === undefined) return each.method.payOther?.(each.call, otherChallenge(call, asked));
    return each.method.pay?.(each.call, each === privately ? challenge : copyOf(challenge));
  }

  /** The terms that this method reads from the 402, checked. If they cannot be paid, another method may pay. */
  async #foreign(by: Paying, call: Call, asked: Asked) {
    try {
      return await this.#readForeign(by, call, asked);
    } catch (error) {
      call.signal?.throwIfAborted();
      asked.problems.push(error);
      return undefined;
    }
  }

  async #readForeign(by: Paying, call: Call, asked: Asked) {
    const { response, exchange } = asked;
    const terms = await by.method.terms?.(by.call, otherChallenge(call, asked));
    if (terms === undefined) return undefined;
    // The same 402 can be paid in a header that is free.
    if (asked.challenge !== undefined && !call.isFree(terms.header)) return undefined;
    const [wallet, { services }] = [this.#wallet, this.#checked];
    const challenge = await parseForeignTerms(call, response, terms.instructions, wallet, services, exchange);
    assertHeaderLimit(challenge.instructions.payment.zkProof.maxHeaderLength);
    return { by, terms, challenge } satisfies Foreign & { readonly challenge: ReadChallenge };
  }

  /** See {@link quotePayment}. */
  async quote(input: string | URL | Request, init: RequestInit): Promise<Quote> {
    const call = await this.#capture(input, init);
    const asked = await this.#ask(call);
    if (asked.response.status !== 402) return { response: asked.response, offer: undefined };
    const options = { request: call.fingerprint, key: undefined, onProgress: undefined, retryDelayMs: undefined };
    for (const each of this.#paying(call, options)) {
      const foreign = await this.#foreign(each, call, asked);
      const challenge = foreign?.challenge ?? (each.method === this.#private ? asked.challenge : undefined);
      if (challenge === undefined) continue;
      await asked.response.body?.cancel().catch(() => undefined);
      await assertServerClock(this.#wallet, challenge, call.signal);
      const offer = await payableOffer(challenge, this.#wallet, {}, call.signal);
      await this.#private.address(challenge, call.signal);
      return { response: undefined, offer: { ...offer, stated: foreign?.terms.stated } };
    }
    return { response: unpaid(asked), offer: undefined };
  }
}

/** The response to an unpaid request. */
interface Asked {
  readonly response: Response;
  /** Its checked challenge, if it is one of x402-zk. */
  readonly challenge: ReadChallenge | undefined;
  readonly exchange: Pick<Exchange, "sent" | "answered">;
  /** See `OtherChallenge`. */
  readonly body: () => Promise<Uint8Array>;
  /** Why methods cannot pay terms of their own formats in it. */
  readonly problems: unknown[];
}

/** A 402 that no method pays, for the caller. @throws the first problem, if there is one */
function unpaid({ response, problems }: Asked): Response {
  if (problems.length > 0) throw problems[0];
  return response;
}

/**
 * The limit for one request applies to the value of each token, so that a price above theirs would be bounded per day only.
 * @throws FetchError METHOD_INVALID
 */
function assertPriceOfTokens(name: string, { price, tokens }: Pick<PrivatePurchase, "price" | "tokens">): void {
  const { count, value } = tokens;
  const counted = Number.isSafeInteger(count) && count > 0 && typeof value === "bigint";
  if (counted && price === BigInt(count) * value) return;
  throw new FetchError(
    "METHOD_INVALID",
    `the method ${name} pays ${price} base units, which is not the price of ${count} tokens of ${value} base units`,
  );
}

/** Maximum milliseconds that an answer waits for the records of a method. */
const RECORDS_MS = 2_000;

/** The outcome of the call is known: an error or a delay in a method's own records must not replace it. */
async function ignoringErrors(action: () => Promise<void> | void): Promise<void> {
  const limit = new AbortController();
  try {
    await Promise.race([action(), delay(RECORDS_MS, limit.signal)]);
  } catch {
    // The only consequence is that the method has no record of this call.
  } finally {
    limit.abort();
  }
}

/** A 402 as a method reads it. The caller gets the response itself if no method pays. */
const otherChallenge = (call: Call, { response, body }: Asked): OtherChallenge => ({
  url: new URL(URL.canParse(response.url) ? response.url : call.url),
  headers: new Headers(response.headers),
  body,
});
