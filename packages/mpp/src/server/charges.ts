// The checks of a paywall, for servers that make their challenges with another library of MPP, such as mppx.
import { setTimeout as wait } from "node:timers/promises";
import { parseInstructions, type ScheduleJson } from "@sotto/protocol";
import {
  createPaywall,
  invalidOption,
  isPaymentRequired,
  type PaymentMethod,
  type Paywall,
  type PaywallCore,
  type PaywallOptions,
} from "@sotto/resource-server";
import { encodeCharge, type Json } from "../index.ts";

/** The options of a paywall that depend neither on routes nor on the form of responses. */
export type ChargesOptions = Omit<PaywallOptions, "price" | "routes" | "free" | "page" | "cors" | "methods">;

/** Asks for private payments, and verifies them. */
export interface Charges {
  /** See `Paywall.ready`. */
  readonly ready: Promise<void>;
  /**
   * The schedule of the recipient's addresses: serve it as JSON at SCHEDULE_PATH of @sotto/protocol, because clients read it
   * before they pay. Undefined for a lasting address.
   */
  readonly schedule: ScheduleJson | undefined;
  /**
   * The `request` of a challenge for a URL. Only its path and query count: the origin is that of the options.
   * @param amount base units
   * @throws Error if the paywall cannot take payments now
   */
  request(url: string | URL, amount: bigint): Promise<Json>;
  /**
   * Verifies the payload of a credential and consumes the payment: it pays for this URL once. Waits a few seconds if the
   * settlement is not known yet.
   * @param amount base units
   * @returns the receipt, or why the payment was refused
   */
  verify(payload: unknown, url: string | URL, amount: bigint): Promise<Verified>;
  /** Closes the store and stops the timers; see `Paywall.close`. */
  close(): Promise<void>;
}

/** The fields of a receipt of MPP. */
export interface ChargeReceipt {
  readonly method: "sotto";
  /** Transaction that settled the payment. */
  readonly reference: string;
  readonly status: "success";
  /** When the payment was accepted, RFC 3339. */
  readonly timestamp: string;
}

/** The outcome of `verify`. */
export type Verified =
  | {
      /** The payment was accepted. */
      readonly receipt: ChargeReceipt;
      /** Absent: nothing was refused. */
      readonly refusal: undefined;
    }
  | {
      /** Absent: the payment was refused. */
      readonly receipt: undefined;
      /** Why the payment was refused, for the client. */
      readonly refusal: string;
    };

/** Headers of the requests that are made here; no caller can send them. */
const [AMOUNT, PROOF] = ["x-charge-amount", "x-payment-proof"];
const MAX_TRIES = 5;
const MAX_WAIT_MS = 2_000;

/**
 * Opens the checks of a paywall for a server with another library of MPP.
 * @throws PaywallError INVALID_OPTION; the errors of `createPaywall`
 */
export async function openCharges(options: ChargesOptions): Promise<Charges> {
  const own = ["price", "routes", "free", "page", "cors", "methods"].find((name) =>
    Object.hasOwn(Object(options), name),
  );
  if (own !== undefined) throw invalidOption(`charges have no option ${own}: the other library makes the challenges`);
  const price = (request: { header(name: string): readonly string[] }) => BigInt(request.header(AMOUNT)[0]!);
  let core: PaywallCore | undefined;
  const charges: PaymentMethod = {
    name: "charges",
    open: (opened) => {
      core = opened;
      return {};
    },
  };
  const paywall = await createPaywall({ ...options, free: [], price, methods: [charges] });
  return new OpenCharges(paywall, core!);
}

class OpenCharges implements Charges {
  readonly #paywall: Paywall;
  readonly #core: PaywallCore;

  constructor(paywall: Paywall, core: PaywallCore) {
    this.#paywall = paywall;
    this.#core = core;
  }

  get schedule(): ScheduleJson | undefined {
    return this.#core.schedule;
  }

  get ready(): Promise<void> {
    return this.#paywall.ready;
  }

  close(): Promise<void> {
    return this.#paywall.close();
  }

  async request(url: string | URL, amount: bigint): Promise<Json> {
    const decision = await this.#decide(url, amount);
    if (decision.kind !== "refused" || !isPaymentRequired(decision))
      throw new Error("the paywall cannot take payments now");
    const { payment, metadata } = parseInstructions(decision.body);
    const { recipient, pool, asset, decimals, chainId, schedule, verifyEndpoint } = payment;
    const { wallet, shieldedAddress: key, phone, service, issuedAt, signature } = recipient;
    const request = encodeCharge({
      amount,
      asset,
      decimals,
      binding: { chainId: BigInt(chainId), pool, wallet, key, phone, service, issuedAt },
      signature,
      schedule,
      service: verifyEndpoint.replace(/\/verify$/, ""),
      resource: metadata.resource,
    });
    return JSON.parse(Buffer.from(request, "base64url").toString()) as Json;
  }

  async verify(payload: unknown, url: string | URL, amount: bigint): Promise<Verified> {
    const proof = JSON.stringify(payload) ?? "";
    for (let tries = 1; ; tries += 1) {
      const decision = await this.#decide(url, amount, proof);
      if (decision.kind === "paid" && decision.payment.kind === "payment") {
        const { txSignature: reference } = decision.payment;
        // What happens to the response is not known here, so the payment is consumed in any case.
        await decision.finish(200);
        const timestamp = new Date(this.#core.clock()).toISOString();
        return { receipt: { method: "sotto", reference, status: "success", timestamp }, refusal: undefined };
      }
      const seconds = Number(decision.kind === "refused" ? decision.headers["retry-after"] : undefined);
      if (!Number.isFinite(seconds) || tries === MAX_TRIES)
        return { receipt: undefined, refusal: "the payment was not accepted" };
      await wait(Math.min(seconds * 1_000, MAX_WAIT_MS));
    }
  }

  #decide(url: string | URL, amount: bigint, proof?: string) {
    const { pathname, search } = new URL(url);
    const values = new Map([[AMOUNT, String(amount)], ...(proof === undefined ? [] : [[PROOF, proof] as const])]);
    const header = (name: string): readonly string[] => {
      const value = values.get(name);
      return value === undefined ? [] : [value];
    };
    return this.#paywall.decide({ method: "GET", target: pathname + search, header });
  }
}
