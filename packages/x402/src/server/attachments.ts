// What payers show beside payments in this format: the requirements ask for it in `extra.attachments`, and payloads show it in fields.
import { type Address, type AmountBounds, amountBounds, type Bytes32 } from "@sotto/protocol";
import { parseX402Payload, parseX402Terms } from "@sotto/protocol/x402";
import { decodeHeader } from "../header-json.ts";
import type { Frozen, Json, PaymentPayload, PaymentRequirements } from "../types.ts";

/** A payment beside which something may be shown. */
export interface X402ShownPayment {
  /** Nullifier of the spent note; identifies the payment. */
  readonly nullifier: bigint;
  /** keccak256 of the payment's signals. */
  readonly digest: Bytes32;
  /** Proven bounds of the amount, base units. */
  readonly bounds: AmountBounds;
  /** The URL that was paid for. */
  readonly resource: string;
  /** The recipient's wallet. */
  readonly wallet: Address;
  /** When the payment was created, Unix milliseconds. */
  readonly timestamp: number;
}

/** Opened attachments: `paywall.attachments`, or what `openAttachments` of @sotto/resource-server returns. */
export interface X402Attachments<Shown extends object> {
  /** What is asked for, by name: the same for all payers. */
  readonly asked: Readonly<Record<string, unknown>>;
  /**
   * Reads what is shown beside a payment that is settled.
   * @param payload the payment's JSON, whose fields show attachments
   */
  read(payment: X402ShownPayment, payload: object): Promise<Shown>;
}

/** A payment in this format: the value of the header PAYMENT-SIGNATURE, or what it decodes to. */
export type X402Payment = string | Frozen<Pick<PaymentPayload, "payload">>;

/** Maximum payments of which it is remembered what they showed. */
const MAX_PAYMENTS = 10_000;

/** A payment that this process settles. Read once, when it is settled or first asked for. */
interface Settling<Shown> {
  readonly payload: Frozen<Json>;
  readonly requirements: Frozen<PaymentRequirements>;
  shown?: Promise<Shown | undefined>;
}

/** What was shown beside the payments that this process settles. */
export class ShownAttachments<Shown extends object> {
  readonly #attachments: X402Attachments<Shown>;
  readonly #onError: (error: unknown) => void;
  /** By digest, oldest first. */
  readonly #payments = new Map<string, Settling<Shown>>();

  constructor(attachments: X402Attachments<Shown>, onError: (error: unknown) => void) {
    this.#attachments = attachments;
    this.#onError = onError;
  }

  /** A payment passed this server's checks, and its settlement begins. */
  settling(digest: string, payload: Frozen<Json>, requirements: Frozen<PaymentRequirements>): void {
    // What an earlier request with this payment showed does not count for this one.
    this.#payments.delete(digest);
    this.#payments.set(digest, { payload, requirements });
    const [oldest] = this.#payments.keys();
    if (this.#payments.size > MAX_PAYMENTS) this.#payments.delete(oldest!);
  }

  /** A payment is settled: what it shows is read, even if no handler asks for it. */
  settled(digest: string): void {
    void this.#read(digest);
  }

  /** A payment was not settled, or its request failed. */
  failed(digest: string): void {
    this.#payments.delete(digest);
  }

  /** What was shown beside a payment. Undefined for a payment that this process does not settle. Never rejects. */
  async of(payment: X402Payment | undefined): Promise<Shown | undefined> {
    let digest: string;
    try {
      const { payload } = Object(typeof payment === "string" ? decodeHeader(payment) : payment) as PaymentPayload;
      ({ digest } = parseX402Payload(payload));
    } catch {
      return undefined;
    }
    return this.#read(digest);
  }

  async #read(digest: string): Promise<Shown | undefined> {
    const settling = this.#payments.get(digest);
    if (settling === undefined) return undefined;
    settling.shown ??= this.#readPayload(settling).catch((error: unknown) => {
      this.#onError(error);
      return undefined;
    });
    return settling.shown;
  }

  async #readPayload({ payload, requirements }: Settling<Shown>): Promise<Shown> {
    const { amount, resource, wallet } = parseX402Terms(requirements);
    const { bundle, signals, digest } = parseX402Payload(payload);
    const { nullifier } = signals;
    const { timestamp } = bundle;
    return this.#attachments.read(
      { nullifier, digest, bounds: amountBounds(amount), resource, wallet, timestamp },
      payload,
    );
  }
}
