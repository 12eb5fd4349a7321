import { readBody, SottoError } from "@sotto/protocol";
import { X402_VERSION } from "@sotto/protocol/x402";
import { X402SchemeError } from "../errors.ts";
import { normalizeServiceUrl } from "../service-url.ts";
import type {
  Json,
  PaymentPayload,
  PaymentRequirements,
  SettleResponse,
  SupportedKind,
  VerifyResponse,
} from "../types.ts";

interface Supported {
  readonly kinds: readonly SupportedKind[];
  readonly signers: Readonly<Record<string, readonly string[]>>;
}

const MAX_RESPONSE_BYTES = 64 * 1024;

/** Client of sotto's service as an x402 facilitator. It validates responses strictly and does not trust the service. */
export class ServiceClient {
  readonly #base: string;
  readonly #send: typeof fetch;
  readonly #timeoutMs: number;

  constructor(base: string, send: typeof fetch, timeoutMs: number) {
    this.#base = normalizeServiceUrl(base);
    // Called as a function, because a browser's fetch requires `this` to be the window.
    this.#send = (input, init) => send(input, init);
    this.#timeoutMs = timeoutMs;
  }

  async supported(): Promise<Supported> {
    const { kinds, signers } = await this.#request("supported");
    if (!Array.isArray(kinds) || typeof signers !== "object" || signers === null)
      throw this.#invalidResponse("supported");
    return { kinds, signers: signers as Supported["signers"] };
  }

  async verify(paymentPayload: PaymentPayload, paymentRequirements: PaymentRequirements): Promise<VerifyResponse> {
    const answer = await this.#request("verify", { x402Version: X402_VERSION, paymentPayload, paymentRequirements });
    const { isValid, invalidReason, invalidMessage } = answer;
    if (isValid === true) return { isValid };
    if (isValid !== false) throw this.#invalidResponse("verify");
    return { isValid, ...texts({ invalidReason, invalidMessage }) };
  }

  async settle(paymentPayload: PaymentPayload, paymentRequirements: PaymentRequirements): Promise<SettleResponse> {
    const answer = await this.#request("settle", { x402Version: X402_VERSION, paymentPayload, paymentRequirements });
    const { success, transaction, network, errorReason, errorMessage, extra } = answer;
    if (typeof success !== "boolean" || network !== paymentRequirements.network) throw this.#invalidResponse("settle");
    if (typeof transaction !== "string" || !/^(0x[0-9a-f]{64})?$/.test(transaction))
      throw this.#invalidResponse("settle");
    if (success && transaction === "") throw this.#invalidResponse("settle");
    const more = typeof extra === "object" && extra !== null ? { extra: extra as Json } : {};
    return {
      success,
      transaction,
      network: paymentRequirements.network,
      ...texts({ errorReason, errorMessage }),
      ...more,
    };
  }

  async #request(path: string, body?: object): Promise<Json> {
    const failed = (message: string, cause?: unknown) =>
      new X402SchemeError("X402_FACILITATOR_FAILED", `${this.#base}/${path} ${message}`, {}, { cause });
    let answer: unknown;
    let status: number;
    try {
      const signal = AbortSignal.timeout(this.#timeoutMs);
      const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      const init = body === undefined ? {} : post;
      const response = await this.#send(`${this.#base}/${path}`, { ...init, redirect: "error", signal });
      status = response.status;
      answer = JSON.parse(new TextDecoder().decode(await readBody(response, MAX_RESPONSE_BYTES, signal)));
    } catch (cause) {
      const tooLarge = cause instanceof SottoError && cause.code === "ANSWER_TOO_LARGE";
      throw failed(tooLarge ? `sent a response of more than ${MAX_RESPONSE_BYTES} bytes` : "does not answer", cause);
    }
    if (typeof answer !== "object" || answer === null || Array.isArray(answer)) throw this.#invalidResponse(path);
    // Refusals have the standard's fields too, with any status. A response without these fields is an error.
    const isStandard = "isValid" in answer || "success" in answer || "kinds" in answer;
    if (!isStandard) throw failed(`responded with status ${status} and no field of x402`);
    return answer as Json;
  }

  #invalidResponse(path: string): X402SchemeError {
    return new X402SchemeError(
      "X402_FACILITATOR_FAILED",
      `${this.#base}/${path} sent a response that is not valid in x402`,
    );
  }
}

const MAX_TEXT_CHARS = 500;

/** The values that are strings, truncated. */
function texts<K extends string>(values: Readonly<Record<K, unknown>>): Partial<Record<K, string>> {
  const found = Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(found.map(([key, text]) => [key, text.slice(0, MAX_TEXT_CHARS)])) as Partial<
    Record<K, string>
  >;
}
