// How the proof of a private payment is presented in the header of another method: that of its 402, or of the journal.
import { addressOwnerTag } from "@sotto/protocol";
import { type Context, store } from "../purchase/context.ts";
import { assertHeaderLimit } from "../purchase/header.ts";
import type { PaidPurchase } from "../purchase/paid.ts";
import { sameTerms } from "../purchase/purchase.ts";
import type { Envelope, PurchaseRecord } from "../purchase/record.ts";
import { FetchError } from "./errors.ts";
import type { OtherChallenge, PayingCall, PaymentProof, PrivateTerms } from "./method.ts";
import type { Paying } from "./method-call.ts";
import type { Presented } from "./present.ts";
import type { Presenter } from "./show.ts";

/** Terms that a method read from a 402 of its own format, and the method. */
export interface Foreign {
  readonly by: Paying;
  readonly terms: PrivateTerms;
}

/** Maximum characters of what a method keeps in the journal. */
const MAX_KEPT = 16_384;

/** Presents a proof in the header of another method. */
export class Wrapped implements Presenter {
  readonly #by: Paying;
  readonly #context: Context;
  readonly #proof: PaymentProof;
  readonly #attached: Readonly<Record<string, string>>;

  /** @param attached what the purchase shows beside the proof, by header */
  constructor(by: Paying, context: Context, purchase: PaidPurchase, attached: Readonly<Record<string, string>>) {
    const { header, txSignature, digest, nullifier, price, resourceUrl, timestamp } = purchase;
    this.#by = by;
    this.#context = context;
    this.#attached = attached;
    this.#proof = { header, txSignature, digest, nullifier, price, resourceUrl, timestamp };
  }

  get call(): PayingCall {
    return this.#by.call;
  }

  get #envelope(): Envelope {
    return this.#context.record.envelope!;
  }

  payment() {
    const { header, kept } = this.#envelope;
    return { name: header, value: this.#by.method.wrap!(kept, this.#proof), also: this.#attached };
  }

  /** A refusal stays final if it asks for anything else, or in words in which the proof cannot be presented. */
  async renew(refused: Presented): Promise<boolean> {
    const envelope = await this.#renewed(refused).catch(() => undefined);
    if (envelope === undefined || JSON.stringify(envelope) === JSON.stringify(this.#envelope)) return false;
    await store(this.#context, { envelope });
    return true;
  }

  /** @returns undefined if the refusal is not of the method's format, or asks for another payment */
  async #renewed({ response, body }: Presented): Promise<Envelope | undefined> {
    const { call, method } = this.#by;
    const { url, headers } = response;
    const challenge: OtherChallenge = {
      url: new URL(URL.canParse(url) ? url : call.url),
      headers: new Headers(headers),
      body: async () => body.slice(),
    };
    const terms = await method.terms?.(call, challenge);
    if (terms === undefined || !isSamePayment(terms, this.#context.record)) return undefined;
    assertHeaderLimit(terms.instructions.payment.zkProof.maxHeaderLength);
    return envelopeOf({ by: this.#by, terms });
  }

  answered({ status, headers }: Response): void {
    try {
      this.#by.method.answered?.(this.#envelope.kept, this.#proof, { status, headers: new Headers(headers) });
    } catch {
      // The outcome of the call is known: an error in a method's own records must not replace it.
    }
  }
}

/** @throws FetchError METHOD_MISSING */
export function presenterOf({ method: name }: Envelope, paying: readonly Paying[]): Paying {
  const found = paying.find((each) => each.name === name && each.method.wrap !== undefined);
  if (found !== undefined) return found;
  throw new FetchError(
    "METHOD_MISSING",
    `an interrupted purchase of this request can only be presented by the method ${name}; add it to the option methods`,
    { method: name },
  );
}

/** @throws FetchError METHOD_INVALID, HEADER_TAKEN before a payment that could not be presented */
export function envelopeOf({ by, terms: { header, kept } }: Foreign): Envelope {
  if (typeof header !== "string" || typeof kept !== "string" || kept.length > MAX_KEPT || by.method.wrap === undefined)
    throw new FetchError("METHOD_INVALID", `the method ${by.name} reads terms that it cannot present a proof for`);
  by.call.assertPresentable(header);
  return { method: by.name, header, kept };
}

/**
 * Whether terms, which nobody has checked, ask for exactly the payment of a record. The record may name the address of the month
 * before, because a server still takes payments to it.
 */
function isSamePayment({ instructions: { payment, metadata } }: PrivateTerms, record: PurchaseRecord): boolean {
  const { wallet, shieldedAddress } = payment.recipient;
  const service = payment.verifyEndpoint.replace(/\/verify$/, "");
  const known = record.recipient.shieldedAddress;
  if (addressOwnerTag(shieldedAddress) !== addressOwnerTag(known)) return false;
  return sameTerms(record, {
    recipient: { wallet, shieldedAddress: known },
    price: payment.amountBaseUnits,
    resourceUrl: metadata.resource,
    service,
  });
}
