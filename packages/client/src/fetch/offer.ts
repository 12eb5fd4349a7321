import type { Wallet } from "@sotto/wallet";
import { assertHeaderLimit } from "../purchase/header.ts";
import { assertWithinLimit, type SpendingLimits } from "../purchase/limits.ts";
import type { Challenge } from "./challenge.ts";
import type { Tokens } from "./method.ts";
import { assertRecipient } from "./recipient.ts";

/** The terms of a 402 that passed all checks that need neither the user nor a registry. */
export interface Offer {
  /** Host and port of the server that asks for the payment. */
  readonly host: string;
  /** The resource, as the server writes it. */
  readonly resourceUrl: string;
  /** Base units. */
  readonly price: bigint;
  /** The recipient's wallet. */
  readonly recipient: string;
  /** The recipient's phone number as the 402 states it; "" if there is none, or if the call resumes a purchase. */
  readonly phone: string;
  /** Base URL of the service. */
  readonly service: string;
  /** Whether its price already counts against the limits, because this call resumes an interrupted purchase. */
  readonly reserved: boolean;
  /**
   * Whether the call resumes a purchase whose proof was sent to the service. It may be paid already, and is paid once
   * at most.
   */
  readonly resumed: boolean;
  /**
   * For a pack of tokens, how many tokens of which value it has. For a request that another method pays with tokens, these
   * tokens: their price counted against the limits when they were bought. Otherwise undefined.
   */
  readonly tokens?: Tokens | undefined;
  /**
   * What the server says about the payment in a 402 of another format than x402-zk, by name, such as `realm`. Nobody has
   * checked these texts: quote them. Otherwise undefined.
   */
  readonly stated?: Readonly<Record<string, string>> | undefined;
}

/** Decides whether to pay. */
export type ConfirmPayment = (offer: Offer) => boolean | Promise<boolean>;

/** @throws PurchaseError PROOF_HEADER_TOO_LONG, REQUEST_LIMIT_EXCEEDED; FetchError RECIPIENT_NOT_SIGNED */
export async function payableOffer(
  challenge: Challenge,
  wallet: Wallet,
  limits: SpendingLimits,
  signal: AbortSignal | undefined,
): Promise<Offer> {
  const { instructions, price, service, url } = challenge;
  const { recipient, zkProof } = instructions.payment;
  assertHeaderLimit(zkProof.maxHeaderLength);
  assertWithinLimit(limits, price);
  await assertRecipient(challenge, wallet, signal);
  return {
    host: url.host,
    resourceUrl: instructions.metadata.resource,
    price,
    recipient: recipient.wallet,
    phone: recipient.phone,
    service,
    reserved: false,
    resumed: false,
  };
}
