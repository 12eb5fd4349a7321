import { assertAmount } from "@sotto/protocol";
import { hexlify, randomBytes } from "ethers";
import type { SottoService } from "../service/service.ts";
import { checkPayment, type PaymentRecipient } from "../wallet/payment-request.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { bookOf, type PurchaseBook } from "./book.ts";
import type { Context, PurchaseOptions } from "./context.ts";
import { PurchaseError } from "./errors.ts";
import { hashText } from "./hash.ts";
import { checkHeaderLimit } from "./header.ts";
import { checkLimits, dayOf, type SpendingLimits } from "./limits.ts";
import { type PaidPurchase, present, problemError } from "./paid.ts";
import type { PurchaseRecord, PurchaseTerms } from "./record.ts";
import { settlePurchase } from "./settle.ts";

export interface PurchaseRequest {
  recipient: PaymentRecipient;
  /** Base units. */
  price: bigint;
  /** What is paid for, as the recipient's server names it: goes into the proof. */
  resourceUrl: string;
  /** Characters that the recipient's server takes in X-Payment-Proof; left out: 8192, which is also the most. */
  maxHeaderLength?: number;
  /** Stands for what is requested, the same for equal requests. */
  request?: string;
  /** Limits that its price counts against, and the host it counts for; left out: none. */
  limits?: SpendingLimits;
  host?: string;
}

export interface KeyedRequest extends PurchaseRequest {
  /** Names this purchase, 1 to 512 characters: whatever happens, it is paid once. */
  key: string;
}

/**
 * Buys something: pays for it through `service`, once, and returns the proof of payment. Each step stands in the wallet's
 * store before it is taken. After a crash, an abort or an error the same call goes on where it was left.
 * Call `delivered` of what it returns when the thing has arrived.
 * @throws PurchaseError, ServiceError, WalletError; the signal's reason
 */
export async function purchase(
  wallet: Wallet,
  service: SottoService,
  request: KeyedRequest,
  options: PurchaseOptions = {},
): Promise<PaidPurchase> {
  const { key } = Object(request) as KeyedRequest;
  if (typeof key !== "string" || key === "" || key.length > 512)
    throw new PurchaseError("PURCHASE_INVALID", "key must be a text of 1 to 512 characters");
  const terms = checkRequest(service, request);
  const book = await bookOf(wallet.store);
  const id = hashText(key);
  const release = book.claim(id);
  try {
    await expectOpen(book, id);
    const record = book.get(id) ?? (await begin(wallet, book, id, request, terms));
    if (!sameTerms(record, terms))
      throw new PurchaseError("PURCHASE_MISMATCH", "the purchase with this key is of something else", { id });
    return await goOn({ wallet, service, book, options, record }, release);
  } catch (error) {
    release();
    options.signal?.throwIfAborted();
    throw error;
  }
}

/** @throws PurchaseError PURCHASE_FINISHED */
export async function expectOpen(book: PurchaseBook, id: string): Promise<void> {
  const finished = await book.finished(id);
  if (finished === undefined) return;
  const { settled } = finished;
  throw new PurchaseError("PURCHASE_FINISHED", `it was paid and delivered before, in ${settled.txSignature}`, {
    id,
    ...settled,
  });
}

/** Goes on with a purchase from wherever it stands. The caller has claimed it. */
export async function goOn(context: Context, release: () => void): Promise<PaidPurchase> {
  if (context.record.problem !== null) throw problemError(context.record);
  await settlePurchase(context);
  return present(context, release);
}

/** @throws SottoError INVALID_AMOUNT and those of a payment's request; PurchaseError PROOF_HEADER_TOO_LONG */
export function checkRequest(service: SottoService, request: PurchaseRequest): PurchaseTerms {
  const { recipient, price, resourceUrl, maxHeaderLength } = Object(request) as PurchaseRequest;
  checkHeaderLimit(maxHeaderLength);
  const checked = checkPayment({ recipient, amount: assertAmount(price, "price"), resourceUrl });
  return { recipient: checked.recipient, price: String(price), resourceUrl, service: service.url };
}

export function sameTerms(a: PurchaseTerms, b: PurchaseTerms): boolean {
  const text = ({ recipient, price, resourceUrl, service }: PurchaseTerms) =>
    JSON.stringify([recipient.wallet, recipient.shieldedAddress, price, resourceUrl, service]);
  return text(a) === text(b);
}

/** Writes down that it is bought, and reserves its price. */
export async function begin(
  wallet: Wallet,
  book: PurchaseBook,
  id: string,
  { limits, host = "", request = id, maxHeaderLength }: PurchaseRequest,
  terms: PurchaseTerms,
): Promise<PurchaseRecord> {
  const now = wallet.now();
  const record: PurchaseRecord = {
    ...terms,
    id,
    request,
    created: now,
    reserved: limits === undefined ? null : { day: dayOf(now), host },
    // A payment that was proven on other terms and never handed on keeps its name: it is not this one.
    payments: [wallet.has(id) ? hexlify(randomBytes(16)).slice(2) : id],
    sent: [],
    settled: null,
    headerLimit: checkHeaderLimit(maxHeaderLength),
    shown: 0,
    problem: null,
  };
  await book.begin(record, checkLimits(limits ?? {}));
  return record;
}
