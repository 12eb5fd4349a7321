// A way to pay, as one object. The paywall knows only this interface: private payments are the first method that it has,
// and the option `methods` adds others.
import type {
  Address,
  Bytes32,
  Deployment,
  EthCall,
  PaymentStatement,
  ProofHeader,
  ScheduleJson,
} from "@sotto/protocol";
import type { FixedQuote, PaywallRequest, Quote } from "../routes/options.ts";
import type { Target } from "../routes/target.ts";
import type { PaywallEvent } from "./events.ts";
import type { PaidAddress } from "./paid-address.ts";
import type { PoolToken } from "./pool-token.ts";
import type { Refused } from "./responses.ts";
import type {
  Decision,
  MethodHeader,
  MethodPath,
  Outcome,
  PaidProof,
  Payment,
  PaymentAttachments,
  ResponseEnd,
  StartedMeter,
} from "./types.ts";

/** A way to pay. It is opened once for each paywall that has it. */
export interface PaymentMethod {
  /** Unique in a paywall: 1 to 32 letters, digits and hyphens, with a lower-case letter first. */
  readonly name: string;
  /** The request headers that it reads. Default: none. */
  readonly headers?: readonly MethodHeader[] | undefined;
  /** The paths that it answers, before routes and prices. Default: none. */
  readonly paths?: readonly MethodPath[] | undefined;
  /** Checks its options and opens its store. An error prevents the paywall from opening. */
  open(core: PaywallCore): OpenMethod | Promise<OpenMethod>;
}

/** A method of one paywall. */
export interface OpenMethod {
  /**
   * Checks signatures of wallets, before the paywall accepts any payment, and options that depend on the pool's token. Retried
   * while no node answers.
   * @param call eth_call on the chain, for wallets that are contracts
   * @param token the pool's token
   */
  assertSigned?(call: EthCall, token: PoolToken): Promise<void>;
  /**
   * Checks a quote that does not depend on the request. The paywall calls it after `assertSigned`, for the quotes of the options and
   * for those that a method gave to `PaywallCore.assertQuote`: an error then prevents it from opening. Later quotes are checked at once.
   */
  assertQuote?(quote: FixedQuote, token: PoolToken): void;
  /** Answers a request to one of its paths. Required if it has paths. */
  answer?(request: PaywallRequest, asked: Asked): Promise<Decision>;
  /**
   * Decides on a request that is paid with this method; undefined if the request carries nothing of it. If it throws, the
   * request gets the 402 of an unpaid one: `CheckFailed` says that what was shown is refused, and any other error that it
   * could not be checked and may pass later.
   */
  decide?(request: PaywallRequest, terms: RequestTerms): Promise<Decision | undefined>;
  /**
   * What it adds to a 402; undefined if it cannot pay for the request. It gets nothing of the request that could differ
   * between payers, except for the body, which is part of what is bought. If it throws, the 402 is sent without it.
   * @param body reads the request's body and leaves it for the handler, as `PaywallRequest.peekBody` does
   */
  offer?(terms: OfferTerms, body: PeekBody): Offer | undefined | Promise<Offer | undefined>;
  /** Closes its store and stops its timers. */
  close?(): Promise<void>;
}

/** Reads the body of a request and leaves it for the handler; undefined if it cannot be read so. */
export type PeekBody = (maxBytes: number) => Promise<Uint8Array | undefined>;

/** What a request is for. */
export interface Asked {
  /** The parsed request target. */
  readonly target: Target;
  /** The URL to pay for, on the configured origin. */
  readonly resource: string;
  /** The pool's token. */
  readonly token: PoolToken;
}

/** A quote that counts what a request uses. The handler gets the meter as `payment.meter`. */
export interface MeteredQuote extends Quote {
  /** Called once a payment without a meter of its own was accepted for a request. Its error releases the payment. */
  meter(payment: Payment, terms: RequestTerms): StartedMeter;
}

/** The terms of a request with a price. */
export interface RequestTerms extends Asked {
  /** Base units. With a quote, its amount. */
  readonly price: bigint;
  /** The price as the options have it, if it has terms of its own. A method for exact prices does not pay terms that it does not know. */
  readonly quote?: Quote | undefined;
  /** Names of the methods that may pay. Default: all. */
  readonly methods?: readonly string[] | undefined;
}

/** The terms of a 402. They are the same for all payers. */
export interface OfferTerms extends Asked {
  /** HTTP method of the request. */
  readonly method: string;
  /** Base units. With a quote, its amount. */
  readonly price: bigint;
  /** The price as the options have it, if it has terms of its own. */
  readonly quote?: Quote | undefined;
}

/** What a method adds to a 402. */
export interface Offer {
  /** The field of the body's `payment` that has the method's name: JSON as `parseOffers` of @sotto/protocol accepts it. */
  readonly payment?: object | undefined;
  /** Fields of the body; those of the private payment cannot be replaced. */
  readonly body?: object | undefined;
  /** Challenges to add to WWW-Authenticate, such as `Payment realm="data"`. */
  readonly authenticate?: readonly string[] | undefined;
  /**
   * Other headers. Those of all methods have at most 3,136 bytes together, because proxies limit them. A function is called
   * last, with the bytes that the other methods leave: it can shorten its headers.
   */
  readonly headers?: OfferHeaders | ((bytes: number) => OfferHeaders) | undefined;
  /** Media type of the 402's JSON for requests that have a header, which must be one of the method's. */
  readonly contentType?: { readonly type: string; readonly header: string } | undefined;
}

/** Headers by their names. */
export type OfferHeaders = Readonly<Record<string, string>>;

/** What a private payment must be for. */
export interface PaidTerms {
  /** Base units. */
  readonly price: bigint;
  /** The URL to pay for. */
  readonly resource: string;
  /** Runs after the cheap checks, and before chain and proofs. Its error refuses the request. */
  readonly beforeProofs?: (() => Promise<void>) | undefined;
  /** The request, which may show attachments beside the payment. Default: none are read. */
  readonly request?: PaywallRequest | undefined;
}

/** A private payment that passed every check. It counts once `finish` gets a status below 500. */
export interface Passed {
  readonly payment: PaidProof & PaymentAttachments;
  /** Consumes or releases the payment, as that of a paid `Decision` does. Never rejects. */
  finish(outcome: Outcome): Promise<void>;
}

/** What a method may use of its paywall, once requests arrive. */
export interface PaywallCore {
  /** Public origin of the resource server. */
  readonly origin: string;
  /** Base URL of the service. */
  readonly service: string;
  /** The recipient's wallet. */
  readonly wallet: Address;
  /** Every address that a 402 may ask for, now or later: the lasting one, or those of the newest schedule. */
  readonly addresses: readonly PaidAddress[];
  /** Chain and pool. */
  readonly deployment: Deployment;
  /** The paywall's store, for @sotto/database. */
  readonly storeUrl: string;
  /**
   * Lets the methods check a quote that is not in the options, as they check those of the options. Before chain and pool are known,
   * it is kept, and checked when the paywall opens.
   * @throws the errors of the methods
   */
  assertQuote(quote: FixedQuote): void;
  /** What the paywall publishes at SCHEDULE_PATH; undefined for a lasting address. */
  readonly schedule: ScheduleJson | undefined;
  /**
   * The address that a 402 asks for.
   * @param ms now
   * @throws PaywallError ADDRESS_MONTH_MISSING
   */
  addressAt(ms: number): PaidAddress;
  /**
   * The addresses at which a payment counts: also those of a neighbouring month within 10 minutes of its start or end, and those
   * of earlier schedules.
   * @param ms when it was made
   */
  acceptedAt(ms: number): readonly PaidAddress[];
  /** Now, ms. */
  clock(): number;
  /** Tells the operator. */
  report(event: PaywallEvent): void;
  /** The 402 of a request without a payment, or the refusal of a request that nobody can pay. */
  challenge(request: PaywallRequest, terms: RequestTerms): Promise<Refused>;
  /**
   * The decision to serve a request.
   * @param finish gets the outcome
   * @param ended called once: with "complete" after `finish`, or with "cut" as soon as the connection is lost
   */
  paid(
    payment: Payment,
    finish: (outcome: Outcome) => Promise<void>,
    ended?: (end: ResponseEnd) => void | Promise<void>,
  ): Decision;
  /**
   * Checks a private payment for terms of the method's own.
   * @param values the values of the header X-Payment-Proof
   * @param accept decides on a payment that passed every check
   */
  verify(values: readonly string[], terms: PaidTerms, accept: (passed: Passed) => Promise<Decision>): Promise<Decision>;
  /**
   * Waits for the first attempt to reach chain and service.
   * @throws CheckUnavailable while payments cannot be checked
   */
  opened(): Promise<void>;
  /**
   * Checks a private payment that may be old and used.
   * @param isAnswered whether the payment with this digest was accepted before; then chain and proofs are not asked
   * @returns the payment's digest
   * @throws CheckFailed, CheckUnavailable
   */
  verifyAgain(
    header: ProofHeader,
    terms: PaidTerms,
    isAnswered: (digest: Bytes32) => Promise<boolean>,
  ): Promise<Bytes32>;
  /**
   * Checks the proofs of a payment that is not settled yet, so that an invalid one causes no request to the service. One
   * payment is checked at a time, and 64 wait; beyond that, and while the service cannot be reached, the result is
   * "unavailable". Never rejects.
   */
  verifyProofs(payment: PaymentStatement): Promise<"valid" | "invalid" | "unavailable">;
}
