// What adapters see of a paywall: a request in, a decision out. No framework.
import type { Address, AmountBounds, Bytes32, PaymentUses, ProofHeader } from "@sotto/protocol";
import type { PaywallRequest } from "../routes/request.ts";

export type { PaywallRequest } from "../routes/request.ts";
export type { PaywallOptions } from "./options.ts";

/** A payment that passed every check. Attached to the request. */
export interface PaidProof {
  /** Base units, where the paywall has the recipient's viewing key. */
  readonly amount: bigint | undefined;
  /** What the amount was proven to lie within, base units. */
  readonly bounds: AmountBounds;
  /** Of the spent note: what a payment is known by. */
  readonly nullifier: bigint;
  /** keccak256 of the payment's ten signals. */
  readonly digest: Bytes32;
  /** The transaction the payer named. */
  readonly txSignature: Bytes32;
  /** Whether the payment was settled in that one; false where somebody else settled it first, in another. */
  readonly settledThere: boolean;
  /** The URL that was paid for, on the configured origin. */
  readonly resource: string;
  /** Of the merchant. */
  readonly wallet: Address;
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number;
  /** The header, read. */
  readonly header: ProofHeader;
}

/**
 * What becomes of a request. A refusal with `Retry-After` (402 and 503) is not final: the same header may pass then,
 * because a check could not be made, the payment is not deep enough in the chain, or it is being used at this moment.
 */
export type Decision =
  /** No payment is needed. */
  | { readonly kind: "free" }
  | {
      readonly kind: "refused";
      readonly status: 400 | 402 | 503;
      readonly headers: Record<string, string>;
      readonly body: object;
    }
  | {
      readonly kind: "paid";
      readonly payment: PaidProof;
      /** For the answer, whatever it is. */
      readonly headers: Record<string, string>;
      /**
       * To be called once, as soon as it is known how the request ended, and before its answer is complete. 500 up and
       * "aborted" (nobody was answered) give the payment back, three times in all; anything else consumes it. Never
       * rejects. A paywall that is never told (a crash) gives the payment back once its lease ends.
       */
      finish(outcome: number | "aborted"): Promise<void>;
    };

export interface Paywall {
  /** Never rejects. */
  decide(request: PaywallRequest): Promise<Decision>;
  /**
   * Resolves once payments can be judged, or the paywall was closed. Pending while the chain or the service cannot be
   * reached: until then free requests pass, and paid ones get 402 or 503. Rejects if what is reached turns out to be wrong:
   * another key, for one. Left alone, that rejection ends the process.
   */
  readonly ready: Promise<void>;
  /** For another dialect on the same routes: what one takes the other does not take again. */
  readonly uses: PaymentUses;
  /** Ends the store and its timers. For after the server: payments whose handlers still run are given back later. */
  close(): Promise<void>;
}
