// The interface between a paywall and its adapters: a request in, a decision out, independent of any framework.
import type { Address, AmountBounds, Bytes32, PaymentStatement, PaymentUses, ProofHeader } from "@sotto/protocol";
import type { PrepaidTotals } from "../prepaid/prepaid.ts";
import type { PaywallRequest } from "../routes/options.ts";

export type { PaywallRequest } from "../routes/options.ts";
export type { PaywallOptions } from "./options.ts";

/** What paid for a request. Attached to the request. */
export type Payment = PaidProof | PaidToken;

/** A prepaid token that paid for a request. */
export interface PaidToken {
  /** The request was paid with a prepaid token. */
  readonly kind: "prepaid";
  /** Identifies the token: make side effects idempotent by it. */
  readonly id: string;
  /** The token's value, which is the price, base units. */
  readonly amount: bigint;
  /** Id of the key that signed the token, hex with 0x. */
  readonly key: string;
  /** The URL that was paid for, on the configured origin. */
  readonly resource: string;
  /** The recipient's wallet. */
  readonly wallet: Address;
}

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
      /** 403 to 410 only at the paths of prepaid tokens. */
      readonly status: 400 | 402 | 403 | 404 | 405 | 409 | 410 | 503;
      /** Headers of the response. */
      readonly headers: Record<string, string>;
      /** JSON of the response: the payment instructions, or an error. */
      readonly body: object;
      /** HTML to send as text/html in place of `body`; only with the option `page`. */
      readonly page?: string | undefined;
    }
  | {
      /** The paywall's own content, only with the option `prepaid`: keys or signatures. Send it as it is. */
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
      /** The payment, or the prepaid token, that pays for the request. */
      readonly payment: Payment;
      /** To be set on the response, regardless of its status. */
      readonly headers: Record<string, string>;
      /**
       * Call it once, as soon as the outcome is known, and before the response is complete: with the status, with
       * "unstarted" if the client was gone before the handler started, or with "aborted" if it was gone before the
       * response. A status of 500 or above, "unstarted" and "aborted" release a payment, three times in total; any
       * other status consumes it. If this is never called, for example after a crash, the payment is released when its
       * lease expires. A prepaid token is spent already: a status of 500 or above and "unstarted" return it, twice at
       * most. Never rejects.
       */
      finish(outcome: Outcome): Promise<void>;
    };

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
  /**
   * For another payment format: whether a payment that is not settled yet has valid proofs for its own fields, so that
   * an invalid one causes no request to the service. One payment is checked at a time, and 64 wait; beyond that, and
   * while the service cannot be reached, the result is "unavailable". Never rejects.
   */
  checkProofs(payment: PaymentStatement): Promise<"valid" | "invalid" | "unavailable">;
  /** Whether the option `prepaid` is set: then the server has to pass the paths of prepaid tokens to the paywall. */
  readonly hasPrepaid: boolean;
  /** Sold and redeemed prepaid tokens by key; empty without the option `prepaid`. It counts rows. @throws DatabaseError */
  prepaidTotals(): Promise<readonly PrepaidTotals[]>;
  /** For another payment format on the same routes: a payment is accepted once, in either format. */
  readonly uses: PaymentUses;
  /**
   * Closes the store and stops the timers. Close the server first: a payment whose handler is still running is released
   * later.
   */
  close(): Promise<void>;
}
