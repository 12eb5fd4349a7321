import { getBytes, sha256 } from "ethers";
import type { OnProgress, PurchaseProgress } from "../purchase/progress.ts";
import type { Call, CallPayment } from "./call.ts";
import { FetchError } from "./errors.ts";
import type { OpenMethod, PayingCall, PayingMethod } from "./method.ts";
import { hasHeader, isPaymentOf } from "./payment-header.ts";
import { type Presented, type PresentOptions, present } from "./present.ts";

/** What a call is, apart from its request. */
export interface CallOptions {
  /** The same for equal requests. */
  readonly request: string;
  readonly key: string | undefined;
  readonly onProgress: OnProgress | undefined;
  /** Milliseconds before the first retry, doubled for each further one. */
  readonly retryDelayMs: number | undefined;
  /** Names of the headers of attachments, which private payments may have. Default: none. */
  readonly attached?: readonly string[] | undefined;
}

/** A method with its view of one call. */
export interface Paying {
  readonly name: string;
  readonly method: OpenMethod;
  readonly call: MethodCall;
}

/** A call for one method, which can send nothing but its own headers to the call's origin. */
export class MethodCall implements PayingCall {
  readonly #call: Call;
  readonly #by: Pick<PayingMethod, "name" | "headers">;
  readonly #options: CallOptions;

  constructor(call: Call, by: Pick<PayingMethod, "name" | "headers">, options: CallOptions) {
    this.#call = call;
    this.#by = by;
    this.#options = options;
  }

  get method(): string {
    return this.#call.method;
  }

  get url(): URL {
    return new URL(this.#call.url);
  }

  get signal(): AbortSignal | undefined {
    return this.#call.signal;
  }

  get request(): string {
    return this.#options.request;
  }

  get bodyHash(): Uint8Array | undefined {
    const { body } = this.#call;
    return body === undefined ? undefined : getBytes(sha256(body));
  }

  get key(): string | undefined {
    return this.#options.key;
  }

  async send(payment: CallPayment): Promise<Response> {
    return this.#call.send(this.#checked(payment));
  }

  async present(payment: CallPayment, options: PresentOptions): Promise<Presented> {
    const checked = this.#checked(payment);
    return present(() => this.#call.send(checked), options, this.signal, this.#options.retryDelayMs);
  }

  /** Checks a payment, and returns a copy that the method cannot change afterwards. @throws FetchError METHOD_INVALID */
  #checked({ name, value, url, also }: CallPayment): CallPayment {
    const by = this.#by;
    const { attached = [] } = this.#options;
    // A header that the request has already is the caller's: nothing else is shown in it.
    const further = Object.entries({ ...also })
      .filter(([other]) => !attached.includes(other) || this.#call.isFree(other))
      .map(([other, text]) => [other, String(text)] as const);
    const copy = {
      name: String(name),
      value: String(value),
      url: new URL(url.href),
      also: Object.fromEntries(further),
    };
    const own = [...by.headers, ...attached];
    if (![[copy.name, copy.value] as const, ...further].every(([header, text]) => isPaymentOf(own, header, text)))
      throw new FetchError("METHOD_INVALID", `the method ${by.name} pays with a header that it does not declare`);
    if (copy.url.origin !== this.#call.url.origin)
      throw new FetchError(
        "METHOD_INVALID",
        `the method ${by.name} pays at an origin other than ${this.#call.url.origin}`,
      );
    return copy;
  }

  /** Checks before a payment that `header` can present its proof. @throws FetchError HEADER_TAKEN, METHOD_INVALID */
  assertPresentable(header: string): void {
    const by = this.#by;
    if (!hasHeader(by.headers, header))
      throw new FetchError("METHOD_INVALID", `the method ${by.name} pays with a header that it does not declare`);
    this.#call.assertFree(header);
  }

  tell(progress: PurchaseProgress): void {
    this.#options.onProgress?.(progress);
  }
}
