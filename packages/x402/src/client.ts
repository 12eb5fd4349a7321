// The scheme for clients, to be passed to x402Client.register.

import { followSchedule, type PayableAddress, type PayingAttachment, parseAttachments } from "@sotto/client";
import {
  parseX402Network,
  parseX402Terms,
  X402_SCHEME,
  X402_SETTLEMENT_PENDING,
  X402_VERSION,
  type X402Terms,
  x402Network,
} from "@sotto/protocol/x402";
import type { Wallet } from "@sotto/wallet";
import { assertTerms, type Policy, readToken } from "./client/check.ts";
import { nullifierOf, Payments } from "./client/payments.ts";
import { trackFetch } from "./client/track.ts";
import { X402SchemeError } from "./errors.ts";
import { normalizeServiceUrl } from "./service-url.ts";
import type { Frozen, Json, Network, PaymentPayload, PaymentRequirements, SettleResponse } from "./types.ts";

export { X402_SCHEME_ERRORS } from "./error-definitions.ts";
export { X402SchemeError, type X402SchemeErrorCode } from "./errors.ts";

/** Options of the scheme's client. */
export interface SottoClientOptions {
  /** The wallet that pays. The caller closes it. */
  readonly wallet: Wallet;
  /** Base URLs of the services that may see payments. The client refuses requirements that name another service. */
  readonly services: readonly string[];
  /** Reads the address schedules that resource servers name. Default: the platform's fetch. */
  readonly fetch?: typeof fetch | undefined;
  /** Maximum wait for a note that is being appended or that another payment has reserved, ms. Default: 60,000. */
  readonly fundsTimeoutMs?: number;
  /**
   * What payments show to servers that ask for it, such as where the money comes from: those of `wrapFetch` that have a `field`.
   * Default: nothing.
   */
  readonly attachments?: readonly PayingAttachment[];
}

interface PaymentResponse {
  readonly paymentPayload: Frozen<PaymentPayload>;
  readonly settleResponse?: Frozen<SettleResponse>;
}

/** A browser's fetch accepts only the window as `this`. */
const platformFetch: typeof fetch = (input, init) => fetch(input, init);

const FUNDS_TIMEOUT_MS = 60_000;
/** Pause before a retry if the settlement is pending, ms. */
const PENDING_PAUSE_MS = 1_000;

/** The client of the scheme `sotto`: pays what a resource server requires, with the notes of a wallet. */
export class SottoScheme {
  readonly scheme = X402_SCHEME;
  /** For x402's client: presents a payment again while its settlement is in progress. */
  readonly schemeHooks: { onPaymentResponse: (response: PaymentResponse) => Promise<{ recovered: true } | undefined> };
  readonly #policy: Policy;
  readonly #symbol: string;
  readonly #payments: Payments;
  readonly #challengeIds = new WeakMap<object, string>();

  private constructor(policy: Policy, symbol: string, payments: Payments) {
    this.#policy = policy;
    this.#symbol = symbol;
    this.#payments = payments;
    this.schemeHooks = { onPaymentResponse: (response) => this.#onResponse(response) };
  }

  /**
   * Reads the pool's token from the chain: spend controls use its decimals, not those that a resource server claims.
   * @throws X402SchemeError X402_OPTION_INVALID; FetchError FETCH_OPTION_INVALID for attachments; WalletError of the chain
   */
  static async open(options: SottoClientOptions): Promise<SottoScheme> {
    const { wallet, services, fundsTimeoutMs = FUNDS_TIMEOUT_MS, fetch: send = platformFetch } = options;
    const attachments = parseAttachments(options.attachments ?? []);
    if (!Array.isArray(services) || services.length === 0)
      throw new X402SchemeError("X402_OPTION_INVALID", "services must be a list of one or more base URLs of services");
    const urls = services.map((service) => normalizeServiceUrl(service, wallet.pool.chainId));
    if (typeof send !== "function") throw new X402SchemeError("X402_OPTION_INVALID", "fetch must be a function");
    const { decimals, symbol } = await readToken(wallet);
    const payments = new Payments(wallet, fundsTimeoutMs, attachments);
    return new SottoScheme({ wallet, decimals, services: urls, fetch: send }, symbol, payments);
  }

  /** CAIP-2 id of the wallet's chain; register the scheme for it. */
  get network(): Network {
    return x402Network(this.#policy.wallet.pool.chainId);
  }

  /** The pool's token, which the caller's spend controls count as dollars; undefined for any other asset. */
  findDefaultAsset = (
    asset: string,
    network: Network,
  ): { asset: string; decimals: number; symbol: string } | undefined => {
    const { token } = this.#policy.wallet.pool;
    if (network !== this.network || asset.toLowerCase() !== token) return undefined;
    return { asset: token, decimals: this.#policy.decimals, symbol: this.#symbol };
  };

  /**
   * Creates a payment of exactly the price, and sends nothing: the resource server's service settles the payload.
   * @throws X402SchemeError; FetchError of `followSchedule`; SottoError X402_*, BINDING_UNCHECKED; WalletError; the errors of attachments
   */
  async createPaymentPayload(
    x402Version: number,
    requirements: PaymentRequirements,
    context: { readonly maxAmountPerPayment?: string } = {},
  ): Promise<{ x402Version: number; payload: Json }> {
    if (x402Version !== X402_VERSION)
      throw new X402SchemeError(
        "X402_OPTION_INVALID",
        `x402Version is ${x402Version}, but the scheme supports only version ${X402_VERSION}`,
      );
    parseX402Network(requirements.network);
    const terms = parseX402Terms(requirements);
    const { maxAmountPerPayment: limit } = context;
    await assertTerms(terms, limit === undefined ? undefined : BigInt(limit), this.#policy);
    const challenge = terms.challenge ?? this.#challengeIdOf(requirements);
    const { before, keep } = await this.#follow(terms);
    await keep();
    const payload = await this.#payments.obtain({ ...terms, before }, challenge);
    return { x402Version, payload: { ...payload } };
  }

  /**
   * Wraps the fetch that the published `wrapFetchWithPayment` sends with, and tracks the outcome of each payment: if a
   * response was lost, the client presents the payment again instead of paying again. It refuses to follow a redirect
   * with a payment, and refuses challenges for other origins.
   */
  track(send: typeof fetch): typeof fetch {
    return trackFetch(send, this.#payments);
  }

  /** Checks that the recipient's address may be paid now. */
  #follow({ wallet, recipient, schedule, resource }: X402Terms): Promise<PayableAddress> {
    const { shieldedAddress } = recipient;
    const source = { origin: new URL(resource).origin, fetch: this.#policy.fetch };
    return followSchedule(this.#policy.wallet, { wallet, shieldedAddress, schedule }, source);
  }

  /** A challenge without an id is identified by its object, so that the same object is not paid twice. */
  #challengeIdOf(requirements: PaymentRequirements): string {
    const known = this.#challengeIds.get(requirements) ?? crypto.randomUUID();
    this.#challengeIds.set(requirements, known);
    return known;
  }

  async #onResponse({ paymentPayload, settleResponse }: PaymentResponse): Promise<{ recovered: true } | undefined> {
    const id = this.#payments.idOf(nullifierOf(paymentPayload.payload));
    if (id === undefined || settleResponse === undefined) return undefined;
    if (settleResponse.success) {
      await this.#payments.onSettled(id);
      return undefined;
    }
    this.#payments.release(id);
    if (settleResponse.errorReason !== X402_SETTLEMENT_PENDING) return undefined;
    // The settlement is in progress: present the same payment once more instead of paying again.
    await new Promise((resolve) => setTimeout(resolve, PENDING_PAUSE_MS));
    return { recovered: true };
  }
}
