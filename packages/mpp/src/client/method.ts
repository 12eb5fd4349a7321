import type {
  AnsweredHead,
  OpenMethod,
  OtherChallenge,
  PayingCall,
  PayingCore,
  PayingMethod,
  PayingWallet,
  PaymentHeader,
  PaymentProof,
  PrivateTerms,
} from "@sotto/client";
import { type Offers, parseOffers } from "@sotto/protocol";
import { PAYMENT_SCHEME } from "../core/auth-header.ts";
import { isCharge, MPP_INTENT, MPP_METHOD, type MppChallenge, parseChallenges } from "../core/challenge.ts";
import { CREDENTIAL_HEADER, encodeCredential, proofPayload } from "../core/credential.ts";
import { type MppReceipt, parseReceipt, RECEIPT_HEADER } from "../core/receipt.ts";
import { type MppOptions, parseMppOptions, type ReceivedReceipt } from "./options.ts";
import { PAYMENT_AUTHORIZATION, termsOf } from "./terms.ts";

/** Maximum length of a header WWW-Authenticate that is read, characters; Node's fetch accepts 16 KiB of headers in all. */
const MAX_HEADER_LENGTH = 32_768;

class MppMethod implements PayingMethod {
  readonly name = "mpp";
  readonly headers: readonly PaymentHeader[] = [
    { name: CREDENTIAL_HEADER, scheme: PAYMENT_SCHEME },
    PAYMENT_AUTHORIZATION,
  ];
  readonly paysKeyed = true;
  readonly asks: Readonly<Record<string, string>>;
  readonly #options: MppOptions;

  constructor(options: MppOptions) {
    this.#options = parseMppOptions(options);
    this.asks = this.#options.acceptPayment === true ? { "Accept-Payment": `${MPP_METHOD}/${MPP_INTENT}` } : {};
  }

  open({ wallet }: PayingCore): OpenMethod {
    return new Charges(wallet, this.#options.onReceipt);
  }
}

/**
 * Pays challenges of MPP's authentication scheme Payment, for the option `methods` of `wrapFetch`: those of the method
 * `sotto` with the intent `charge`. All others are left to the caller.
 * @throws MppClientError MPP_OPTION_INVALID
 */
export const mpp = (options: MppOptions = {}): PayingMethod => new MppMethod(options);

class Charges implements OpenMethod {
  readonly #wallet: PayingWallet;
  readonly #onReceipt: MppOptions["onReceipt"];

  constructor(wallet: PayingWallet, onReceipt: MppOptions["onReceipt"]) {
    this.#wallet = wallet;
    this.#onReceipt = onReceipt;
  }

  /** @throws MppError; MppClientError */
  async terms(call: PayingCall, { url, headers, body }: OtherChallenge): Promise<PrivateTerms | undefined> {
    const value = headers.get("www-authenticate") ?? "";
    if (value.length > MAX_HEADER_LENGTH) return undefined;
    const charges = parseChallenges(value).filter(isCharge);
    const request = { url, bodyHash: call.bodyHash, now: this.#serverTime(headers) };
    let first: unknown;
    for (const challenge of charges) {
      try {
        const terms = termsOf(challenge, request);
        if (this.#isForWallet(terms)) return { ...terms, offers: await offersIn(body) };
        // The client refuses these terms, and says what differs.
        first ??= terms;
      } catch (error) {
        first ??= error;
      }
    }
    if (first instanceof Error) throw first;
    return first as PrivateTerms | undefined;
  }

  wrap(kept: string, { header }: PaymentProof): string {
    return encodeCredential({ challenge: JSON.parse(kept) as MppChallenge, payload: proofPayload(header) });
  }

  answered(kept: string, { txSignature, resourceUrl }: PaymentProof, { status, headers }: AnsweredHead): void {
    const value = headers.get(RECEIPT_HEADER);
    if (value === null && (status < 200 || status > 299)) return;
    const { id } = JSON.parse(kept) as MppChallenge;
    const { receipt, problem } = receiptOf(value, id, txSignature);
    this.#onReceipt?.({ resource: resourceUrl, txSignature, receipt, problem });
  }

  /** The time in the header Date, which proxies may have written; in browsers, it is hidden from other origins. */
  #serverTime(headers: Headers): number {
    const date = Date.parse(headers.get("date") ?? "");
    return Number.isFinite(date) && date > 0 ? date : this.#wallet.now();
  }

  #isForWallet({ instructions: { payment } }: PrivateTerms): boolean {
    const { chainId, pool, token } = this.#wallet.pool;
    return payment.chainId === String(chainId) && payment.pool === pool && payment.asset === token;
  }
}

/**
 * What a paywall of sotto asks payers to show, in the body of the 402. A challenge has no place for it, and servers with other libraries
 * ask for nothing.
 */
async function offersIn(body: OtherChallenge["body"]): Promise<Offers | undefined> {
  try {
    return parseOffers(JSON.parse(new TextDecoder().decode(await body())));
  } catch {
    return undefined;
  }
}

function receiptOf(
  value: string | null,
  id: string,
  txSignature: string,
): Pick<ReceivedReceipt, "receipt" | "problem"> {
  if (value === null) return { receipt: undefined, problem: "missing" };
  let receipt: MppReceipt;
  try {
    receipt = parseReceipt(value);
  } catch {
    return { receipt: undefined, problem: "malformed" };
  }
  const { reference, challengeId = id } = receipt;
  if (reference !== txSignature || challengeId !== id) return { receipt: undefined, problem: "foreign" };
  return { receipt, problem: undefined };
}
