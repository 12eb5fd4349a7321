// The scheme for resource servers, to be passed to x402ResourceServer.register.
import {
  allowsDevelopment,
  baseUrl,
  type EthCall,
  MAX_AMOUNT,
  MAX_PAYMENT_AGE_MS,
  type PaymentUses,
  parseAddress,
  requestId,
  type ScheduleJson,
} from "@sotto/protocol";
import { X402_DYNAMIC_EXTRA, X402_SCHEME, x402Network } from "@sotto/protocol/x402";
import { X402SchemeError } from "./errors.ts";
import { ShownAttachments, type X402Attachments, type X402Payment } from "./server/attachments.ts";
import { type Hooks, serverHooks } from "./server/hooks.ts";
import { MemoryUses } from "./server/payment-uses.ts";
import { amountOf, type Token } from "./server/price.ts";
import {
  parseRecipients,
  type RecipientExtra,
  type Recipients,
  type SottoMonthRecipient,
  type SottoRecipient,
} from "./server/recipient.ts";
import { assertAskedFits } from "./server/required-header.ts";
import { shownAddress, type Transport } from "./server/shown-address.ts";
import { normalizeServiceUrl } from "./service-url.ts";
import type {
  Json,
  Network,
  PaymentRequired,
  PaymentRequirements,
  Price,
  ResourceInfo,
  SupportedKind,
} from "./types.ts";

export type { PaymentClaim, PaymentUse, PaymentUses } from "@sotto/protocol";
export { createX402Listing, type X402Listing, type X402ListingOptions } from "@sotto/protocol/x402";
export { X402SchemeError, type X402SchemeErrorCode } from "./errors.ts";
export type { X402Attachments, X402Payment, X402ShownPayment } from "./server/attachments.ts";
export { bothFormats, type HttpResourceServer } from "./server/formats.ts";
export { type X402Method, type X402Offer, type X402Paywall, type X402Terms, x402Method } from "./server/method.ts";
export { MemoryUses } from "./server/payment-uses.ts";
export type { SottoMonthRecipient, SottoRecipient } from "./server/recipient.ts";

/** Options of the scheme's resource server. */
export interface SottoServerOptions<Shown extends object = object> {
  /** Public origin, e.g. https://data.example. Payments are bound to it; it is never taken from a request. */
  readonly origin: string;
  /** The wallet that is paid, with its signatures over its addresses of months, or over its lasting address. */
  readonly recipient: SottoMonthRecipient | SottoRecipient;
  /** EIP-155 id of the chain. */
  readonly chainId: bigint | number;
  readonly pool: string;
  readonly asset: string;
  /** The token's decimals, 0 to 77. */
  readonly decimals: number;
  /** Ticker that prices may use, as in "0.10 USDC". Default: USDC. */
  readonly symbol?: string;
  /** Base URL of the service that settles, as clients know it. */
  readonly service: string;
  /**
   * Stores the used payments: the paywall's `uses`, or a store of your own that all servers of the recipient share.
   * `new MemoryUses()` is for a single process: it refuses payments that were made before it started. Required, except
   * on local chains, where `new MemoryUses()` is the default.
   */
  readonly uses?: PaymentUses;
  /**
   * What payers may show beside payments: the paywall's `attachments`, or those that `openAttachments` of @sotto/resource-server
   * opened. It never decides whether a payment counts. Default: nothing.
   */
  readonly attachments?: X402Attachments<Shown>;
  /**
   * Receives the errors of checks and of the store, and ADDRESS_MONTH_MISSING once the last address has ended. Payments that could
   * not be checked are refused.
   */
  readonly onError?: (error: unknown) => void;
  /** Now, ms. */
  readonly clock?: () => number;
}

interface RequiredContext {
  readonly resourceInfo: ResourceInfo;
  readonly paymentRequiredResponse: PaymentRequired;
  /** Why there is a 402; undefined while the request's payment is compared with the requirements. */
  readonly error?: string | undefined;
  readonly transportContext?: unknown;
}

/**
 * The resource server of the scheme `sotto`: prices, and the extra fields of its payment requirements.
 * @typeParam Shown what its attachments read
 */
export class SottoScheme<Shown extends object = object> {
  readonly scheme = X402_SCHEME;
  /** x402's name for the only way in which this scheme transfers. */
  readonly defaultAssetTransferMethod = "default";
  /** Always settles before the resource is served, because a served response cannot be revoked. */
  readonly paymentFlows = { default: { supported: ["upfront" as const], default: "upfront" as const } };
  /** Fields of `extra` in which a payment may differ from what is asked for now. */
  readonly dynamicExtraFields: string[] = [...X402_DYNAMIC_EXTRA];
  /** For x402's server: each payment is accepted once. */
  readonly schemeHooks: Hooks;
  /** What each 402 asks payers to show beside the payment, by the names of attachments; undefined if it asks for nothing. */
  readonly asked: Readonly<Record<string, unknown>> | undefined;
  readonly #options: SottoServerOptions<Shown>;
  readonly #shown: ShownAttachments<Shown> | undefined;
  readonly #token: Token;
  readonly #pool: string;
  readonly #origin: string;
  readonly #service: string;
  readonly #recipients: Recipients;
  readonly #extra: Json;
  readonly #clock: () => number;
  readonly #onError: (error: unknown) => void;

  /** @throws X402SchemeError X402_OPTION_INVALID, ADDRESS_MONTH_MISSING */
  constructor(options: SottoServerOptions<Shown>) {
    this.#options = options;
    const { decimals, symbol = "USDC", clock = Date.now, attachments } = options;
    this.#origin = originOf(options.origin);
    try {
      this.#service = normalizeServiceUrl(options.service, BigInt(options.chainId));
      this.#pool = parseAddress(options.pool, "pool");
      this.#token = { asset: parseAddress(options.asset, "asset"), decimals, symbol };
    } catch (cause) {
      throw new X402SchemeError("X402_OPTION_INVALID", (cause as Error).message, {}, { cause });
    }
    if (!Number.isInteger(decimals) || decimals < 0 || decimals > 77)
      throw new X402SchemeError(
        "X402_OPTION_INVALID",
        "decimals must be those of the pool's token, an integer from 0 to 77",
      );
    this.#recipients = parseRecipients(options.recipient, { chainId: BigInt(options.chainId), pool: this.#pool });
    this.asked = askedOf(attachments);
    this.#extra = {
      ...{ pool: this.#pool, decimals, service: this.#service },
      ...(this.asked && { attachments: this.asked }),
    };
    this.#clock = clock;
    const address = this.#recipients.extraAt(clock());
    if (this.asked !== undefined) assertAskedFits(this.#longestRequirements(address), this.#origin);
    this.#onError = options.onError ?? (() => undefined);
    this.#shown = attachments && new ShownAttachments(attachments, this.#onError);
    this.schemeHooks = serverHooks({
      ...{ uses: usesOf(options, clock), clock, onError: this.#onError },
      shown: this.#shown,
    });
  }

  /**
   * Creates the scheme after checking, as every client does, that the wallet signed its addresses.
   * @param call eth_call on the chain, for wallets that are contracts
   * @throws X402SchemeError X402_OPTION_INVALID, ADDRESS_MONTH_MISSING; SottoError BINDING_UNCHECKED
   */
  static async open<Shown extends object = object>(
    options: SottoServerOptions<Shown>,
    call: EthCall,
  ): Promise<SottoScheme<Shown>> {
    const scheme = new SottoScheme(options);
    const problem = await scheme.#recipients.check(call, scheme.#clock());
    if (problem !== undefined) throw new X402SchemeError("X402_OPTION_INVALID", `recipient: ${problem}`);
    return scheme;
  }

  /** CAIP-2 id of the chain; register the scheme and configure the routes with it. */
  get network(): Network {
    return x402Network(BigInt(this.#options.chainId));
  }

  /**
   * The schedule of the addresses, to be served at SCHEDULE_PATH of @sotto/protocol: a paywall with the same addresses does so.
   * Undefined for a lasting address.
   */
  get schedule(): ScheduleJson | undefined {
    return this.#recipients.schedule;
  }

  /**
   * What a payer showed beside a payment that was settled for a request, for the request's handler and for hooks after the settlement. It
   * waits until everything is read, 5 s at most.
   * @param payment the value of the request's header PAYMENT-SIGNATURE, or what it decodes to
   * @returns undefined without the option `attachments`, and for a payment that this process did not settle or whose request failed
   */
  async attachmentsOf(payment: X402Payment | undefined): Promise<Shown | undefined> {
    return this.#shown?.of(payment);
  }

  /** The amount of a price in base units of the pool's token. @throws X402SchemeError X402_PRICE_INVALID */
  async parsePrice(price: Price, _network: Network): Promise<{ amount: string; asset: string; extra: Json }> {
    return { amount: String(amountOf(price, this.#token)), asset: this.#token.asset, extra: {} };
  }

  /** Decimals of the pool's token; undefined for any other token. */
  getAssetDecimals(asset: string, network: Network): number | undefined {
    return asset.toLowerCase() === this.#token.asset && network === this.network ? this.#token.decimals : undefined;
  }

  /**
   * Adds the pool and the service to the requirements.
   * @throws X402SchemeError X402_OPTION_INVALID if a route pays another recipient
   */
  async enhancePaymentRequirements(
    requirements: PaymentRequirements,
    { extra: { artifactSet } = {} }: SupportedKind,
  ): Promise<PaymentRequirements> {
    const { payTo, network, maxTimeoutSeconds, extra } = requirements;
    if (network !== this.network)
      throw new X402SchemeError(
        "X402_OPTION_INVALID",
        `the route's network is ${network}, but the scheme is for ${this.network}`,
      );
    const { wallet } = this.#recipients;
    if (payTo.toLowerCase() !== wallet)
      throw new X402SchemeError("X402_OPTION_INVALID", `payTo is ${payTo}, but the recipient's wallet is ${wallet}`);
    return {
      ...requirements,
      payTo: wallet,
      // A payment can settle for two to three minutes. A payment older than five minutes is refused, even if a route
      // allows more.
      maxTimeoutSeconds: Math.min(maxTimeoutSeconds, MAX_PAYMENT_AGE_MS / 1000),
      extra: { ...extra, ...this.#extra, ...(artifactSet === undefined ? {} : { artifactSet }) },
    };
  }

  /**
   * Adds the recipient's signed address: that of the month or, if the request shows a payment, the one that was paid. Adds the
   * resource, always on the configured origin, because the client chooses the host that a request names, and an id of the
   * challenge, so that a client that gets the same challenge twice pays once. Without an address of this month, it adds nothing:
   * no client pays such terms, and those of other schemes stay.
   */
  enrichPaymentRequiredResponse = async (context: RequiredContext) => {
    const { resourceInfo, paymentRequiredResponse, error, transportContext } = context;
    const resource = this.#resourceOf(resourceInfo.url);
    const now = this.#clock();
    const challenge = requestId(now);
    const shown = error === undefined ? shownAddress(transportContext as Transport, this.#recipients) : undefined;
    const address = shown ?? this.#addressAt(now);
    if (address === undefined) return paymentRequiredResponse.accepts;
    return paymentRequiredResponse.accepts.map((accepted) =>
      accepted.scheme !== this.scheme || accepted.network !== this.network || "resource" in accepted.extra
        ? accepted
        : { ...accepted, extra: { ...accepted.extra, ...address, resource, challenge } },
    );
  };

  /**
   * Compares the facilitator's pool, token and keys with this server's.
   * @returns why this server cannot use the facilitator; undefined if it can
   */
  validateFacilitatorSupport(_network: Network, { extra = {} }: SupportedKind): string | undefined {
    const { pool, asset, decimals, service } = extra;
    if (pool !== this.#pool || asset !== this.#token.asset || decimals !== this.#token.decimals)
      return (
        `it settles in the pool ${String(pool)} of ${String(asset)} with ${String(decimals)} decimals, but this server ` +
        `is configured for the pool ${this.#pool} of ${this.#token.asset} with ${this.#token.decimals} decimals`
      );
    if (service !== undefined && baseUrl(service) !== this.#service)
      return `its address is ${String(service)}, but this server would tell clients ${this.#service}`;
    return undefined;
  }

  /** Requirements that are as long as those of a 402, without their resource. */
  #longestRequirements(address: RecipientExtra): PaymentRequirements {
    const now = this.#clock();
    const extra = { ...this.#extra, artifactSet: "0".repeat(64), paymentFlow: "upfront", ...address };
    return {
      ...{ scheme: this.scheme, network: this.network, asset: this.#token.asset, amount: String(MAX_AMOUNT) },
      ...{ payTo: this.#recipients.wallet, maxTimeoutSeconds: MAX_PAYMENT_AGE_MS / 1000 },
      extra: { ...extra, challenge: requestId(now) },
    };
  }

  #addressAt(now: number): RecipientExtra | undefined {
    try {
      return this.#recipients.extraAt(now);
    } catch (error) {
      this.#onError(error);
      return undefined;
    }
  }

  #resourceOf(url: string): string {
    if (!URL.canParse(url))
      throw new X402SchemeError("X402_OPTION_INVALID", `the resource must have a URL, got ${url}`);
    const { protocol, pathname, search } = new URL(url);
    // A resource that is not HTTP, such as an MCP tool, has no origin and keeps its URL.
    return /^https?:$/.test(protocol) ? `${this.#origin}${pathname}${search}` : url;
  }
}

/** @throws X402SchemeError X402_OPTION_INVALID */
function askedOf(attachments: X402Attachments<object> | undefined): Readonly<Record<string, unknown>> | undefined {
  if (attachments === undefined) return undefined;
  const { asked, read } = Object(attachments) as Partial<X402Attachments<object>>;
  if (typeof asked !== "object" || asked === null || typeof read !== "function")
    throw new X402SchemeError(
      "X402_OPTION_INVALID",
      "attachments must be opened: pass paywall.attachments, or await openAttachments(..) of @sotto/resource-server",
    );
  return Object.keys(asked).length === 0 ? undefined : asked;
}

/** The methods of a store. A store without one of them would fail only once a payment was settled. */
const USES_METHODS = ["claim", "release", "reject", "consume", "restore"] as const;

/**
 * Servers without a shared store would each accept the same payment, so a store is required outside of local chains.
 */
function usesOf({ uses, chainId }: SottoServerOptions<object>, clock: () => number): PaymentUses {
  if (uses !== undefined) {
    const missing = USES_METHODS.filter((name) => typeof Object(uses)[name] !== "function");
    if (missing.length === 0) return uses;
    throw new X402SchemeError(
      "X402_OPTION_INVALID",
      `uses must have the methods ${USES_METHODS.join(", ")}; it has no ${missing.join(", ")}`,
    );
  }
  if (allowsDevelopment(process.env, chainId)) return new MemoryUses(clock);
  throw new X402SchemeError(
    "X402_OPTION_INVALID",
    `uses is missing, but chain ${chainId} is not a local chain, or NODE_ENV is production: all servers of this recipient must remember used ` +
      "payments in one store. Pass uses: paywall.uses of a paywall with such a store, a store of your own, or " +
      "uses: new MemoryUses() for a single process that refuses payments made before it started",
  );
}

function originOf(origin: string): string {
  const parsed = typeof origin === "string" && URL.canParse(origin) ? new URL(origin) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.origin !== origin.replace(/\/+$/, ""))
    throw new X402SchemeError(
      "X402_OPTION_INVALID",
      "origin must be only a scheme and a host, such as https://data.example",
    );
  return parsed.origin;
}
