// The interface between a paywall and its adapters: a request in, a decision out, independent of any framework.
import type { Address, AmountBounds, Bytes32, PaymentUses, ProofHeader } from "@sotto/protocol";
import type { PaywallRequest } from "../routes/options.ts";

export type { PaywallRequest } from "../routes/options.ts";

/**
 * What can pay for a request, by `kind`. The package of a method adds its own by declaration merging, with at least `kind`,
 * `id`, `amount` and `resource`.
 */
export interface PaymentKinds {
  /** A private payment. */
  readonly payment: PaidProof;
}

/**
 * What was shown beside a private payment, by the fields of the paywall's attachments. The package of an attachment adds its own by
 * declaration merging.
 */
// biome-ignore lint/suspicious/noEmptyInterface: packages of attachments add its fields
export interface PaymentAttachments {}

/** What paid for a request. Attached to the request. */
export type Payment = PaymentKinds[keyof PaymentKinds] &
  PaymentAttachments & {
    /** Counts what the request uses, if its price is known only afterwards. */
    readonly meter?: Meter | undefined;
  };

/** Counts what a request uses, at most up to what was paid for it. */
export interface Meter {
  /**
   * Counts units that the request used. It never counts beyond the cap.
   * @param units counts by name: integers from 0 to 2^64 - 1
   * @returns false once the cap is reached: end the response then, because nothing further is paid
   * @throws Error for a unit without a price, NaN, a fraction, a negative or too large count, and after the response has ended
   */
  add(units: Readonly<Record<string, number | bigint>>): boolean;
  /** What the request may still use, base units. */
  readonly left: bigint;
  /** What the request costs so far, base units. */
  readonly charge: bigint;
  /** Stores the charge so far: it counts even if the server is killed before the response ends. */
  checkpoint(): Promise<void>;
  /** Charges what was used even if the response has a status of 500 or above, which otherwise costs nothing. */
  keep(): void;
}

/** The meter of one request. */
export interface StartedMeter {
  /** What the handler gets. */
  readonly meter: Meter;
  /** Called once, after the response has ended. */
  ended?(end: ResponseEnd): void | Promise<void>;
}

/** How a response ended: it was sent to its end, or the connection was lost or the response given up before that. */
export type ResponseEnd = "complete" | "cut";

/** A payment that passed every check. Attached to the request. */
export interface PaidProof {
  /** The request was paid with a proof. */
  readonly kind: "payment";
  /** Identifies the payment: make side effects idempotent by it. */
  readonly id: string;
  /** Base units; undefined without the recipient's viewing key. */
  readonly amount: bigint | undefined;
  /** Proven bounds of the amount, base units. */
  readonly bounds: AmountBounds;
  /** Nullifier of the spent note; identifies the payment. */
  readonly nullifier: bigint;
  /** keccak256 of the payment's signals. */
  readonly digest: Bytes32;
  /** The transaction that the payer named. */
  readonly txSignature: Bytes32;
  /** Whether `txSignature` settled the payment; false if another transaction settled it first. */
  readonly settledThere: boolean;
  /** The URL that was paid for, on the configured origin. */
  readonly resource: string;
  /** The recipient's wallet. */
  readonly wallet: Address;
  /** When the payment was created, Unix milliseconds. */
  readonly timestamp: number;
  /** The parsed header. */
  readonly header: ProofHeader;
}

/** The fields of a private payment that every format has. The payment passed every check. */
export type ShownPayment = Pick<PaidProof, "nullifier" | "digest" | "bounds" | "resource" | "wallet" | "timestamp">;

/** Opened attachments, for another format of private payments. */
export interface OpenAttachments {
  /** What they ask for, by their names: JSON as `parseOffers` of @sotto/protocol accepts it, the same for all payers. */
  readonly asked: Readonly<Record<string, unknown>>;
  /**
   * Reads what is shown beside a payment. Never rejects: what cannot be read in 5 s counts as not shown.
   * @param payment a payment that passed every check
   * @param shown the payment's JSON, whose fields show the attachments
   */
  read(payment: ShownPayment, shown: object): Promise<PaymentAttachments>;
}

/** How a paid request ended. */
export type Outcome = number | "aborted" | "unstarted";

/**
 * The paywall's decision on a request. A refusal with `Retry-After` (402 and 503) is not final: the same header may
 * pass later, because a check could not be completed, the payment needs more confirmations, or another request is using
 * it.
 */
export type Decision =
  | {
      /** No payment is needed. */
      readonly kind: "free";
      /** Headers to set on the response, if there are any. */
      readonly headers?: Record<string, string> | undefined;
    }
  | {
      /** A CORS preflight, only with the option `cors`: respond 204 with the headers and no body. */
      readonly kind: "preflight";
      /** Headers of the response. */
      readonly headers: Record<string, string>;
    }
  | {
      /** The request does not proceed. */
      readonly kind: "refused";
      /** 403 to 410 only from methods, at paths of their own. */
      readonly status: 400 | 402 | 403 | 404 | 405 | 409 | 410 | 503;
      /** Headers of the response. */
      readonly headers: Record<string, string>;
      /** JSON of the response: the payment instructions, or an error. */
      readonly body: object;
      /** Media type of `body`. Default: application/json. */
      readonly contentType?: string | undefined;
      /** HTML to send as text/html in place of `body`; only with the option `page`. */
      readonly page?: string | undefined;
    }
  | {
      /** Content of the paywall or of a method, at a path of its own. Send it as it is. */
      readonly kind: "answered";
      /** HTTP status of the response. */
      readonly status: 200;
      /** With content-type. */
      readonly headers: Record<string, string>;
      /** Bytes of the response. */
      readonly body: Uint8Array<ArrayBuffer>;
    }
  | {
      /** The request proceeds to the resource. */
      readonly kind: "paid";
      /** What pays for the request. */
      readonly payment: Payment;
      /** To be set on the response, regardless of its status. */
      readonly headers: Record<string, string>;
      /**
       * To be set on the response if its status is below 300, such as a receipt. Such a response is private: it gets the
       * directive `private`, and loses those that let shared caches store it.
       */
      readonly receipt?: Readonly<Record<string, string>> | undefined;
      /**
       * Call it at most once, with the status, if the whole response is known before its headers leave: not for a stream. What
       * it returns is to be set on the response. The handler can count nothing after it.
       */
      readonly finalHeaders?: ((status: number) => Readonly<Record<string, string>>) | undefined;
      /**
       * Call it once, as soon as the outcome is known, and before the response is complete: with the status, with
       * "unstarted" if the client was gone before the handler started, or with "aborted" if it was gone before the
       * response. A status of 500 or above, "unstarted" and "aborted" release a payment, three times in total; any
       * other status consumes it. If this is never called, for example after a crash, the payment is released when its
       * lease expires. Other methods may have other rules. Never rejects.
       */
      finish(outcome: Outcome): Promise<void>;
      /**
       * Call it once: with "complete" after `finish`, as soon as all of the response was handed to the connection, or with "cut"
       * as soon as the connection is lost, the handler's stream fails, or it is known that there is no response, which may be
       * before `finish`. Undefined if nothing depends on the end. Never rejects.
       */
      readonly ended?: ((end: ResponseEnd) => Promise<void>) | undefined;
    };

/** A request header that a method reads. It is removed before handlers and loggers see it. Vary and CORS name it. */
export interface MethodHeader {
  /** As responses write it, such as X-Payment-Token. */
  readonly name: string;
  /** Authentication scheme: only values of this scheme belong to the method, and are removed. Default: all values. */
  readonly scheme?: string | undefined;
  /** Whether handlers still see it, because nobody can pay with it. Default: false. */
  readonly kept?: boolean | undefined;
}

/** A path that the paywall or a method answers itself. */
export interface MethodPath {
  /** For frameworks that need a route for it. Other HTTP methods at this path are answered too. */
  readonly method: "GET" | "POST";
  /** Below /.well-known/sotto/, without parameters. */
  readonly path: string;
}

/** Decides on requests, independently of any framework. */
export interface Paywall {
  /** Never rejects. */
  decide(request: PaywallRequest): Promise<Decision>;
  /**
   * Resolves once payments can be checked, or the paywall is closed. Pending while the chain or the service cannot be
   * reached: until then free requests pass, and paid ones get 402 or 503. Rejects on a permanent error, such as a
   * verification key that is not pinned. If nothing handles that rejection, it ends the process.
   */
  readonly ready: Promise<void>;
  /** Whether the option `cors` is set, in which case the server has to pass preflights (OPTIONS) to the paywall. */
  readonly answersPreflights: boolean;
  /** The request headers that adapters remove before handlers and loggers see a request. */
  readonly removedHeaders: readonly MethodHeader[];
  /**
   * The paths that the paywall answers: of the schedule of its addresses, and of methods. The server has to pass them to the
   * paywall.
   */
  readonly paths: readonly MethodPath[];
  /** For another payment format on the same routes: a payment is accepted once, in either format. */
  readonly uses: PaymentUses;
  /** For another payment format on the same routes: it asks for the same, and reads it with the same keys. */
  readonly attachments: OpenAttachments;
  /**
   * Closes the store and stops the timers. Close the server first: a payment whose handler is still running is released
   * later.
   */
  close(): Promise<void>;
}
