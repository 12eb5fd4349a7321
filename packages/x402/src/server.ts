// The seller's side of the scheme, for x402ResourceServer.register.
import {
  baseUrl,
  type EthCall,
  LOCAL_CHAIN_IDS,
  MAX_PAYMENT_AGE_MS,
  type PaymentUses,
  parseAddress,
  requestId,
} from "@sotto/protocol";
import { X402_DYNAMIC_EXTRA, X402_SCHEME, x402Network } from "@sotto/protocol/x402";
import { X402SchemeError } from "./errors.ts";
import { type Hooks, serverHooks } from "./server/hooks.ts";
import { MemoryUses } from "./server/payment-uses.ts";
import { amountOf, type Token } from "./server/price.ts";
import { checkOwnBinding, readRecipient, type SottoRecipient } from "./server/recipient.ts";
import { serviceAddress } from "./service-address.ts";
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
export { X402SchemeError, type X402SchemeErrorCode } from "./errors.ts";
export {
  bothDialects,
  type HttpResourceServer,
  type PaywallChallenge,
  x402Challenge,
} from "./server/dialects.ts";
export { MemoryUses } from "./server/payment-uses.ts";
export type { SottoRecipient } from "./server/recipient.ts";

export interface SottoServerOptions {
  /** Public origin of the shop, e.g. https://data.example: what payments are bound to. Never taken from a request. */
  readonly origin: string;
  readonly recipient: SottoRecipient;
  readonly chainId: bigint | number;
  /** The ShieldedPool, its token, and the token's decimals. */
  readonly pool: string;
  readonly asset: string;
  readonly decimals: number;
  /** Ticker prices may be named in; USDC if left out. */
  readonly symbol?: string;
  /** Base address of the service that settles, as payers know it. */
  readonly service: string;
  /**
   * Where used payments are remembered: the paywall's `uses`, or a store of your own that all servers of the recipient
   * share. `new MemoryUses()` is for a single process: it refuses payments that were made before it started. Required,
   * except on local chains, where that is the default.
   */
  readonly uses?: PaymentUses;
  /** Told what went wrong in a check or a store; the payment was refused then. */
  readonly onError?: (error: unknown) => void;
  /** Now, ms. */
  readonly clock?: () => number;
}

interface RequiredContext {
  readonly resourceInfo: ResourceInfo;
  readonly paymentRequiredResponse: PaymentRequired;
}

export class SottoScheme {
  readonly scheme = X402_SCHEME;
  readonly defaultAssetTransferMethod = "default";
  /** Settled before the resource is served, always: who has served cannot take back. */
  readonly paymentFlows = { default: { supported: ["upfront" as const], default: "upfront" as const } };
  readonly dynamicExtraFields: string[] = [...X402_DYNAMIC_EXTRA];
  readonly schemeHooks: Hooks;
  readonly #options: SottoServerOptions;
  readonly #token: Token;
  readonly #pool: string;
  readonly #origin: string;
  readonly #service: string;
  readonly #wallet: string;
  readonly #extra: Json;
  readonly #clock: () => number;

  /** @throws X402SchemeError X402_OPTION_INVALID */
  constructor(options: SottoServerOptions) {
    this.#options = options;
    const { decimals, symbol = "USDC", clock = Date.now } = options;
    this.#origin = originOf(options.origin);
    try {
      this.#service = serviceAddress(options.service, BigInt(options.chainId));
      this.#pool = parseAddress(options.pool, "pool");
      this.#token = { asset: parseAddress(options.asset, "asset"), decimals, symbol };
    } catch (cause) {
      throw new X402SchemeError("X402_OPTION_INVALID", (cause as Error).message, {}, { cause });
    }
    if (!Number.isInteger(decimals) || decimals < 0 || decimals > 77)
      throw new X402SchemeError("X402_OPTION_INVALID", "decimals must be those of the pool's token");
    const { wallet, extra } = readRecipient(options.recipient);
    this.#wallet = wallet;
    this.#extra = { pool: this.#pool, decimals, service: this.#service, recipient: extra };
    this.#clock = clock;
    const { onError = () => undefined } = options;
    this.schemeHooks = serverHooks(usesOf(options, clock), clock, onError);
  }

  /**
   * As the constructor, after checking what every payer checks: that the wallet signed its shielded address.
   * @param call asks a node of the chain, for wallets that are contracts
   * @throws X402SchemeError X402_OPTION_INVALID; SottoError BINDING_UNCHECKED
   */
  static async open(options: SottoServerOptions, call: EthCall): Promise<SottoScheme> {
    const scheme = new SottoScheme(options);
    const { recipient, chainId, pool, clock = Date.now } = options;
    await checkOwnBinding(recipient, { chainId: BigInt(chainId), pool }, call, clock());
    return scheme;
  }

  /** CAIP-2 name of the chain: what to register this for, and what routes name. */
  get network(): Network {
    return x402Network(BigInt(this.#options.chainId));
  }

  /** @throws X402SchemeError X402_PRICE_INVALID */
  async parsePrice(price: Price, _network: Network): Promise<{ amount: string; asset: string; extra: Json }> {
    return { amount: String(amountOf(price, this.#token)), asset: this.#token.asset, extra: {} };
  }

  getAssetDecimals(asset: string, network: Network): number | undefined {
    return asset.toLowerCase() === this.#token.asset && network === this.network ? this.#token.decimals : undefined;
  }

  /** @throws X402SchemeError X402_OPTION_INVALID for a route that pays somebody else */
  async enhancePaymentRequirements(
    requirements: PaymentRequirements,
    { extra: { artifactSet } = {} }: SupportedKind,
  ): Promise<PaymentRequirements> {
    const { payTo, network, maxTimeoutSeconds, extra } = requirements;
    if (network !== this.network)
      throw new X402SchemeError("X402_OPTION_INVALID", `the scheme is for ${this.network}, not for ${network}`);
    if (payTo.toLowerCase() !== this.#wallet)
      throw new X402SchemeError("X402_OPTION_INVALID", `payTo must be the recipient's wallet, ${this.#wallet}`);
    return {
      ...requirements,
      payTo: this.#wallet,
      // A payment can be settled for two to three minutes; older than five it is refused whatever is asked here.
      maxTimeoutSeconds: Math.min(maxTimeoutSeconds, MAX_PAYMENT_AGE_MS / 1000),
      extra: { ...extra, ...this.#extra, ...(artifactSet === undefined ? {} : { artifactSet }) },
    };
  }

  /**
   * Says what is paid for, on the configured origin: the host a request names is the payer's to choose. And names the
   * challenge, so that whoever gets it twice pays once.
   */
  enrichPaymentRequiredResponse = async ({ resourceInfo, paymentRequiredResponse }: RequiredContext) => {
    const resource = this.#resourceOf(resourceInfo.url);
    const challenge = requestId(this.#clock());
    return paymentRequiredResponse.accepts.map((accepted) =>
      accepted.scheme !== this.scheme || accepted.network !== this.network || "resource" in accepted.extra
        ? accepted
        : { ...accepted, extra: { ...accepted.extra, resource, challenge } },
    );
  };

  /** @returns what is wrong with the facilitator for this shop */
  validateFacilitatorSupport(_network: Network, { extra = {} }: SupportedKind): string | undefined {
    const { pool, asset, decimals, service } = extra;
    if (pool !== this.#pool || asset !== this.#token.asset || decimals !== this.#token.decimals)
      return `it settles in the pool ${String(pool)} of ${String(asset)} with ${String(decimals)} decimals`;
    if (service !== undefined && baseUrl(service) !== this.#service)
      return `its address is ${String(service)}: payers would be told another one`;
    return undefined;
  }

  #resourceOf(url: string): string {
    if (!URL.canParse(url)) throw new X402SchemeError("X402_OPTION_INVALID", "the resource has no URL");
    const { protocol, pathname, search } = new URL(url);
    // What is no HTTP (a tool of MCP, say) has no origin of a shop: its name is all there is.
    return /^https?:$/.test(protocol) ? `${this.#origin}${pathname}${search}` : url;
  }
}

/** Servers that do not share a store sell one payment once each, so outside of local chains the store must be named. */
function usesOf({ uses, chainId }: SottoServerOptions, clock: () => number): PaymentUses {
  if (uses !== undefined) return uses;
  if (LOCAL_CHAIN_IDS.includes(BigInt(chainId))) return new MemoryUses(clock);
  throw new X402SchemeError(
    "X402_OPTION_INVALID",
    `uses is missing, but chain ${chainId} is not a local chain: all servers of this recipient must remember used ` +
      "payments in one store. Pass uses: paywall.uses of a paywall with such a store, a store of your own, or " +
      "uses: new MemoryUses() for a single process that refuses payments made before it started",
  );
}

function originOf(origin: string): string {
  const parsed = typeof origin === "string" && URL.canParse(origin) ? new URL(origin) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.origin !== origin.replace(/\/+$/, ""))
    throw new X402SchemeError(
      "X402_OPTION_INVALID",
      "origin must be a scheme and a host, such as https://data.example",
    );
  return parsed.origin;
}
