// The scheme for your own facilitator, to be passed to x402Facilitator.register. It forwards requests to sotto's
// service.
import {
  checkX402Payment,
  parseX402Payload,
  parseX402Terms,
  X402_SCHEME,
  X402_VERSION,
  type X402Refusal,
  x402Reason,
} from "@sotto/protocol/x402";
import { X402SchemeError } from "./errors.ts";
import { ServiceClient } from "./facilitator/service.ts";
import type {
  Json,
  Network,
  PaymentPayload,
  PaymentRequirements,
  SettleResponse,
  SupportedKind,
  VerifyResponse,
} from "./types.ts";

export { X402SchemeError, type X402SchemeErrorCode } from "./errors.ts";

/** Options of the scheme's facilitator. */
export interface SottoFacilitatorOptions {
  /** Base URL of the service. */
  readonly service: string;
  /** Sends the requests to the service. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Timeout of one request, ms; a settlement waits for its confirmations. Default: 90,000. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 90_000;

/** The facilitator of the scheme `sotto`: verifies and settles payments through the service. */
export class SottoScheme {
  readonly scheme = X402_SCHEME;
  /** Chains with EVM addresses. */
  readonly caipFamily = "eip155:*";
  readonly #service: ServiceClient;
  readonly #kind: SupportedKind;
  readonly #signers: readonly string[];

  private constructor(service: ServiceClient, kind: SupportedKind, signers: readonly string[]) {
    this.#service = service;
    this.#kind = kind;
    this.#signers = signers;
  }

  /** Reads the chain and pool from the service. @throws X402SchemeError X402_FACILITATOR_FAILED */
  static async open({
    service,
    fetch: send = fetch,
    timeoutMs = TIMEOUT_MS,
  }: SottoFacilitatorOptions): Promise<SottoScheme> {
    const client = new ServiceClient(service, send, timeoutMs);
    const { kinds, signers } = await client.supported();
    const kind = kinds.find(({ x402Version, scheme }) => x402Version === X402_VERSION && scheme === X402_SCHEME);
    if (kind === undefined)
      throw new X402SchemeError("X402_FACILITATOR_FAILED", `${service} does not settle the scheme ${X402_SCHEME}`);
    return new SottoScheme(client, kind, Object.values(signers).flat());
  }

  /** CAIP-2 id of the service's chain; register the scheme for it. */
  get network(): Network {
    return this.#kind.network;
  }

  /** What `/supported` says about the pool: its address, token and set of keys. */
  getExtra(_network: Network): Json | undefined {
    return this.#kind.extra;
  }

  /** The accounts with which the service sends transactions. */
  getSigners(_network: string): string[] {
    return [...this.#signers];
  }

  /**
   * Checks a payment and reserves its note, through the service.
   * @throws SottoError X402_REQUIREMENTS_INVALID, X402_PAYLOAD_INVALID; X402SchemeError X402_FACILITATOR_FAILED
   */
  async verify(payload: PaymentPayload, requirements: PaymentRequirements): Promise<VerifyResponse> {
    const refusal = refusalOf(payload, requirements);
    if (refusal !== undefined)
      return { isValid: false, invalidReason: x402Reason(refusal.reason), invalidMessage: refusal.message };
    return this.#service.verify(payload, requirements);
  }

  /** Idempotent: the same payment gets the same response. @throws the errors of `verify` */
  async settle(payload: PaymentPayload, requirements: PaymentRequirements): Promise<SettleResponse> {
    const refusal = refusalOf(payload, requirements);
    if (refusal === undefined) return this.#service.settle(payload, requirements);
    const { reason, message } = refusal;
    const { network } = requirements;
    return { success: false, errorReason: x402Reason(reason), errorMessage: message, transaction: "", network };
  }
}

/** Checks price, recipient and resource without the service. */
const refusalOf = ({ payload }: PaymentPayload, requirements: PaymentRequirements): X402Refusal | undefined =>
  checkX402Payment(parseX402Payload(payload), parseX402Terms(requirements));
