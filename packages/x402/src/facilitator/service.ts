import { readBody, SottoError } from "@sotto/protocol";
import { X402_VERSION } from "@sotto/protocol/x402";
import { X402SchemeError } from "../errors.ts";
import { serviceAddress } from "../service-address.ts";
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

/** Largest answer read, bytes. */
const LONGEST_ANSWER = 64 * 1024;

/** A service of sotto in the standard's terms. What it answers is read as strictly as if it were anybody's. */
export class Service {
  readonly #base: string;
  readonly #send: typeof fetch;
  readonly #timeoutMs: number;

  constructor(base: string, send: typeof fetch, timeoutMs: number) {
    this.#base = serviceAddress(base);
    // Called as a function: a browser's fetch refuses any other `this` than the window.
    this.#send = (input, init) => send(input, init);
    this.#timeoutMs = timeoutMs;
  }

  async supported(): Promise<Supported> {
    const { kinds, signers } = await this.#ask("supported");
    if (!Array.isArray(kinds) || typeof signers !== "object" || signers === null) throw this.#strange("supported");
    return { kinds, signers: signers as Supported["signers"] };
  }

  async verify(paymentPayload: PaymentPayload, paymentRequirements: PaymentRequirements): Promise<VerifyResponse> {
    const answer = await this.#ask("verify", { x402Version: X402_VERSION, paymentPayload, paymentRequirements });
    const { isValid, invalidReason, invalidMessage } = answer;
    if (isValid === true) return { isValid };
    if (isValid !== false) throw this.#strange("verify");
    return { isValid, ...texts({ invalidReason, invalidMessage }) };
  }

  async settle(paymentPayload: PaymentPayload, paymentRequirements: PaymentRequirements): Promise<SettleResponse> {
    const answer = await this.#ask("settle", { x402Version: X402_VERSION, paymentPayload, paymentRequirements });
    const { success, transaction, network, errorReason, errorMessage, extra } = answer;
    if (typeof success !== "boolean" || network !== paymentRequirements.network) throw this.#strange("settle");
    if (typeof transaction !== "string" || !/^(0x[0-9a-f]{64})?$/.test(transaction)) throw this.#strange("settle");
    if (success && transaction === "") throw this.#strange("settle");
    const more = typeof extra === "object" && extra !== null ? { extra: extra as Json } : {};
    return {
      success,
      transaction,
      network: paymentRequirements.network,
      ...texts({ errorReason, errorMessage }),
      ...more,
    };
  }

  async #ask(path: string, body?: object): Promise<Json> {
    const failed = (message: string, cause?: unknown) =>
      new X402SchemeError("X402_FACILITATOR_FAILED", `${this.#base}/${path} ${message}`, {}, { cause });
    let answer: unknown;
    let status: number;
    try {
      const signal = AbortSignal.timeout(this.#timeoutMs);
      const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      const response = await this.#send(`${this.#base}/${path}`, {
        ...(body === undefined ? {} : post),
        redirect: "error",
        signal,
      });
      status = response.status;
      answer = JSON.parse(new TextDecoder().decode(await readBody(response, LONGEST_ANSWER, signal)));
    } catch (cause) {
      const tooMuch = cause instanceof SottoError && cause.code === "ANSWER_TOO_LARGE";
      throw failed(tooMuch ? "answers too much" : "does not answer", cause);
    }
    if (typeof answer !== "object" || answer === null || Array.isArray(answer)) throw this.#strange(path);
    // Its refusals have the standard's fields whatever their status; what has none of them is no answer.
    const said = "isValid" in answer || "success" in answer || "kinds" in answer;
    if (!said) throw failed(`answers ${status}`);
    return answer as Json;
  }

  #strange(path: string): X402SchemeError {
    return new X402SchemeError("X402_FACILITATOR_FAILED", `${this.#base}/${path} answers what is no answer of x402`);
  }
}

const LONGEST_TEXT = 500;

/** Texts of the other side, cut short; what is none is left out. */
function texts<K extends string>(values: Readonly<Record<K, unknown>>): Partial<Record<K, string>> {
  const found = Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(found.map(([key, text]) => [key, text.slice(0, LONGEST_TEXT)])) as Partial<
    Record<K, string>
  >;
}
