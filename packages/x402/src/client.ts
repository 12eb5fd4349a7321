// The payer's side of the scheme, for x402Client.register.
import type { Wallet } from "@sotto/client";
import {
  parseX402Network,
  parseX402Terms,
  X402_SCHEME,
  X402_SETTLEMENT_PENDING,
  X402_VERSION,
  x402Network,
} from "@sotto/protocol/x402";
import { checkTerms, type Policy } from "./client/check.ts";
import { nullifierOf, Payments } from "./client/payments.ts";
import { readToken } from "./client/token.ts";
import { trackFetch } from "./client/track.ts";
import { X402SchemeError } from "./errors.ts";
import { serviceAddress } from "./service-address.ts";
import type { Frozen, Json, Network, PaymentPayload, PaymentRequirements, SettleResponse } from "./types.ts";

export { X402_SCHEME_ERRORS } from "./error-definitions.ts";
export { X402SchemeError, type X402SchemeErrorCode } from "./errors.ts";

export interface SottoClientOptions {
  readonly wallet: Wallet;
  /** Base addresses of the services that may see payments. Requirements that name another one are refused. */
  readonly services: readonly string[];
  /** Milliseconds to wait for a note that is being appended or held by another payment; 60,000 if left out. */
  readonly fundsTimeoutMs?: number;
}

interface PaymentResponse {
  readonly paymentPayload: Frozen<PaymentPayload>;
  readonly settleResponse?: Frozen<SettleResponse>;
}

const FUNDS_TIMEOUT_MS = 60_000;
/** Between a settlement that is pending and asking again. */
const PENDING_PAUSE_MS = 1_000;

export class SottoScheme {
  readonly scheme = X402_SCHEME;
  readonly schemeHooks: { onPaymentResponse: (response: PaymentResponse) => Promise<{ recovered: true } | undefined> };
  readonly #policy: Policy;
  readonly #symbol: string;
  readonly #payments: Payments;
  readonly #unnamed = new WeakMap<object, string>();

  private constructor(policy: Policy, symbol: string, fundsTimeoutMs: number) {
    this.#policy = policy;
    this.#symbol = symbol;
    this.#payments = new Payments(policy.wallet, fundsTimeoutMs);
    this.schemeHooks = { onPaymentResponse: (response) => this.#answered(response) };
  }

  /**
   * Reads the pool's token from the chain: spend controls count in its decimals, not in those a seller names.
   * @throws X402SchemeError X402_OPTION_INVALID; WalletError of the chain
   */
  static async open({ wallet, services, fundsTimeoutMs = FUNDS_TIMEOUT_MS }: SottoClientOptions): Promise<SottoScheme> {
    if (!Array.isArray(services) || services.length === 0)
      throw new X402SchemeError("X402_OPTION_INVALID", "services must name the base address of at least one service");
    const addresses = services.map((service) => serviceAddress(service, wallet.pool.chainId));
    const { decimals, symbol } = await readToken(wallet);
    return new SottoScheme({ wallet, decimals, services: addresses }, symbol, fundsTimeoutMs);
  }

  /** CAIP-2 name of the wallet's chain: what to register this for. */
  get network(): Network {
    return x402Network(this.#policy.wallet.pool.chainId);
  }

  /** The pool's token counts as dollars for the caller's spend controls. No other asset is known. */
  findDefaultAsset = (
    asset: string,
    network: Network,
  ): { asset: string; decimals: number; symbol: string } | undefined => {
    const { token } = this.#policy.wallet.pool;
    if (network !== this.network || asset.toLowerCase() !== token) return undefined;
    return { asset: token, decimals: this.#policy.decimals, symbol: this.#symbol };
  };

  /**
   * Pays exactly the price. Nothing is sent: the payload is the payment, for the seller's service to settle.
   * @throws X402SchemeError; SottoError X402_*, BINDING_UNCHECKED; WalletError
   */
  async createPaymentPayload(
    x402Version: number,
    requirements: PaymentRequirements,
    context: { readonly maxAmountPerPayment?: string } = {},
  ): Promise<{ x402Version: number; payload: Json }> {
    if (x402Version !== X402_VERSION)
      throw new X402SchemeError("X402_OPTION_INVALID", `the scheme is for version ${X402_VERSION} of x402`);
    parseX402Network(requirements.network);
    const terms = parseX402Terms(requirements);
    const { maxAmountPerPayment: limit } = context;
    await checkTerms(terms, limit === undefined ? undefined : BigInt(limit), this.#policy);
    const challenge = terms.challenge ?? this.#nameOf(requirements);
    const bundle = await this.#payments.for(terms, challenge);
    return { x402Version, payload: { ...bundle } };
  }

  /**
   * A fetch for the published `wrapFetchWithPayment` to send with. It knows what became of each payment: one that was lost
   * on its way is shown again instead of paid again. It also refuses redirects of payments and challenges of other origins.
   */
  track(send: typeof fetch): typeof fetch {
    return trackFetch(send, this.#payments);
  }

  /** Without a name of the seller's, a challenge is one object: what is asked with it again is not paid again. */
  #nameOf(requirements: PaymentRequirements): string {
    const known = this.#unnamed.get(requirements) ?? crypto.randomUUID();
    this.#unnamed.set(requirements, known);
    return known;
  }

  async #answered({ paymentPayload, settleResponse }: PaymentResponse): Promise<{ recovered: true } | undefined> {
    const id = this.#payments.idOf(nullifierOf(paymentPayload.payload));
    if (id === undefined || settleResponse === undefined) return undefined;
    if (settleResponse.success) {
      await this.#payments.settled(id);
      return undefined;
    }
    this.#payments.lost(id);
    if (settleResponse.errorReason !== X402_SETTLEMENT_PENDING) return undefined;
    // On its way: the same payment is shown once more, and nothing is paid again.
    await new Promise((resolve) => setTimeout(resolve, PENDING_PAUSE_MS));
    return { recovered: true };
  }
}
