// The seam of the ways to pay: what a method does, and what it may use.

import type { Offers, PaymentInstructions } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import type { SpendingLimits } from "../purchase/limits.ts";
import type { PaidPurchase } from "../purchase/paid.ts";
import type { PurchaseProgress } from "../purchase/progress.ts";
import type { CallPayment } from "./call.ts";
import type { Challenge } from "./challenge.ts";
import type { PaymentHeader } from "./payment-header.ts";
import type { Presented, PresentOptions } from "./present.ts";

/** A way to pay for requests, for the option `methods` of `wrapFetch`. */
export interface PayingMethod<M extends OpenMethod = OpenMethod> {
  /** 1 to 32 lower-case letters, digits and hyphens. Its secrets and purchases are kept under this name. */
  readonly name: string;
  /**
   * Request headers with which it pays, or schemes in a header that applications use too, such as Authorization. A request
   * that has one of them already is sent as it is.
   */
  readonly headers: readonly PaymentHeader[];
  /**
   * Headers that each request gets, paid or not, unless it has them. Every server sees them. Default: none.
   */
  readonly asks?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether it pays for purchases with a key, which are paid at most once. Default: false; a purchase with a key is paid
   * privately, and recorded.
   */
  readonly paysKeyed?: boolean | undefined;
  /** Called once for each paying fetch. The result keeps the method's state for this fetch and its wallet. */
  open(core: PayingCore): M;
}

/**
 * A method that is open for one paying fetch. An error of `assertInit`, `resume`, `pay`, `payOther` or `wrap` ends the call,
 * and nothing else is paid for it. After an error of `terms`, the next method is asked; the caller gets the error if none
 * pays. Errors of the others are ignored.
 */
export interface OpenMethod {
  /** Refuses options of `fetch` before anything is sent. @throws what the caller of the paying fetch gets */
  assertInit?(init: CheckedInit): void;
  /**
   * Called before a request is sent. If it may be paid already, because an equal call was interrupted, shows the payment
   * again.
   * @returns undefined if it is not
   */
  resume?(call: PayingCall): Promise<Response | undefined>;
  /**
   * Pays for a 402 that passed all checks of its chain, pool, token, resource and service, and whose price is within the
   * limit for one request. @returns undefined if the 402 offers nothing that it can pay now
   */
  pay?(call: PayingCall, challenge: Challenge): Promise<Response | undefined>;
  /** Pays for a 402 that does not ask for private payments. @returns undefined if it cannot: the caller gets the 402 */
  payOther?(call: PayingCall, challenge: OtherChallenge): Promise<Response | undefined>;
  /**
   * Reads what a 402 of another format asks for, if it is a private payment. The client checks these terms as it checks
   * those of an x402-zk challenge, pays them, and lets `wrap` present the proof. Called again if the server refuses a proof:
   * if it asks for the same payment in new words, the same proof is presented in them, once.
   * @returns undefined if the 402 is not of this method's format
   */
  terms?(call: PayingCall, challenge: OtherChallenge): Promise<PrivateTerms | undefined>;
  /**
   * Puts the proof of a settled payment into the header of its terms.
   * @param kept that of the terms, from the journal: this process may not have read them
   * @returns the header's value
   */
  wrap?(kept: string, proof: PaymentProof): string;
  /** The server answered a proof of this method. */
  answered?(kept: string, proof: PaymentProof, response: AnsweredHead): void;
  /** Another method paid for this challenge, and the server answered. */
  paidOtherwise?(challenge: Challenge): Promise<void> | void;
  /** The call ended, with or without an error. */
  ended?(call: PayingCall): void;
}

/** The options of `fetch` that a method may refuse: not the caller's headers, body and signal. */
export interface CheckedInit {
  /** Node's way to connect to the server; undefined in browsers, and for the default. */
  readonly dispatcher: unknown;
}

/** One call of the paying fetch, as a method sees it: without the caller's headers, cookies and body. */
export interface PayingCall {
  /** The HTTP method. */
  readonly method: string;
  /** Without fragment. */
  readonly url: URL;
  /** Aborts the call. */
  readonly signal: AbortSignal | undefined;
  /** The same for equal requests. */
  readonly request: string;
  /** SHA-256 of the body as it is sent, 32 bytes; undefined if there is no body. */
  readonly bodyHash: Uint8Array | undefined;
  /** Names the purchase, which is paid at most once; undefined if it has no key. */
  readonly key: string | undefined;
  /**
   * Sends the request with a payment, and follows no redirect.
   * @throws FetchError METHOD_INVALID for another header or origin than the method's and the call's
   */
  send(payment: CallPayment): Promise<Response>;
  /**
   * Sends the request with a payment, and sends it again if the server fails, is unreachable, or answers 402 with
   * Retry-After.
   * @throws the errors of `send` and fetch; the signal's reason
   */
  present(payment: CallPayment, options: PresentOptions): Promise<Presented>;
  /** Reports a stage to the program. */
  tell(progress: PurchaseProgress): void;
}

/** The terms of a private payment in a 402 of another format. Nobody has checked them. */
export interface PrivateTerms {
  /** What is to be paid, to whom, for which resource and through which service. */
  readonly instructions: PaymentInstructions;
  /** Name of the request header that takes the proof, one of the method's. */
  readonly header: string;
  /** What `wrap` needs, at most 16,384 characters. It is journaled with the purchase. */
  readonly kept: string;
  /** What the server says about the payment, for the program that confirms it: shown, trusted for nothing. */
  readonly stated?: Readonly<Record<string, string>> | undefined;
  /** What the 402 asks payers to show beside the payment, as `parseOffers` of @sotto/protocol reads it. Default: nothing. */
  readonly offers?: Offers | undefined;
}

/** The proof of a settled payment, with what identifies the payment on chain. */
export type PaymentProof = Pick<
  PaidPurchase,
  "header" | "txSignature" | "digest" | "nullifier" | "price" | "resourceUrl" | "timestamp"
>;

/** Status and headers of the response to a proof. */
export interface AnsweredHead {
  /** The HTTP status. */
  readonly status: number;
  /** A copy. */
  readonly headers: Headers;
}

/** A 402 in any format. Nobody has checked it. */
export interface OtherChallenge {
  /** The URL that answered. */
  readonly url: URL;
  /** The headers of the response. */
  readonly headers: Headers;
  /** Reads the body, at most 64 KiB in 30 s. @throws SottoError ANSWER_TOO_LARGE; the timeout */
  body(): Promise<Uint8Array>;
}

/** The part of a wallet that a method may use. It cannot spend. */
export type PayingWallet = Pick<Wallet, "store" | "chain" | "pool" | "now" | "pastTime" | "derive">;

/** What a method may use. */
export interface PayingCore {
  /** Records of the method belong under its name; `derive` has only labels that begin with it. */
  readonly wallet: PayingWallet;
  /** The limits of the paying fetch. Private payments of the method count against them. */
  readonly limits: SpendingLimits;
  /** Base URLs of the services that the program trusts with its payments. */
  readonly services: readonly string[];
  /** The wrapped fetch. It may share connections and cookies with the caller's requests. */
  readonly fetch: typeof fetch;
  /**
   * Asks the program whether to pay for a challenge with tokens that were paid before, with the same checked terms as
   * before a private payment.
   * @throws FetchError PAYMENT_DECLINED and the errors of an offer
   */
  confirm(challenge: Challenge, tokens: Tokens, signal: AbortSignal | undefined): Promise<void>;
  /**
   * Pays privately for something that the method needs, such as a pack of tokens. It is paid at most once, and the same
   * purchase resumes after a crash. Its price counts against the limits per day, and the limit per request applies to the
   * value of each token. Call `delivered` on the result once the proof is stored or used: it does not get too old.
   * @throws FetchError TERMS_NOT_OFFERED if nothing was paid and nothing can be; METHOD_INVALID if the price is not that
   *   of the tokens; the errors of a payment
   */
  payPrivately(purchase: PrivatePurchase): Promise<PaidPurchase>;
}

/** Tokens that are bought or spent. */
export interface Tokens {
  /** How many. */
  readonly count: number;
  /** Base units of each. */
  readonly value: bigint;
}

/** Something that a method pays for privately. */
export interface PrivatePurchase {
  /** Names it among the method's purchases: it is paid at most once. */
  readonly key: string;
  /** URL that answers 402. */
  readonly url: string;
  /** The request. It is sent with these headers alone, without cookies or referrer. */
  readonly init: Pick<RequestInit, "method" | "headers" | "signal"> & { readonly body: Uint8Array };
  /** Sends it. */
  readonly fetch: typeof fetch;
  /** The recipient's wallet that the 402 must name. */
  readonly wallet: string;
  /** The price that the 402 must ask for, base units: that of all tokens together. */
  readonly price: bigint;
  /** What is bought, for the program that confirms the payment. */
  readonly tokens: Tokens;
}
