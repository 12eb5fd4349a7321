import { assertAmount } from "@sotto/protocol";
import { type PaymentRecipient, parsePaymentRequest, type SottoService, type Wallet } from "@sotto/wallet";
import { hexlify, randomBytes } from "ethers";
import { bookOf, type PurchaseBook } from "./book.ts";
import type { Context, PurchaseOptions } from "./context.ts";
import { PurchaseError } from "./errors.ts";
import { hashText } from "./hash.ts";
import { assertHeaderLimit } from "./header.ts";
import { assertLimits, reservationAt, type SpendingLimits } from "./limits.ts";
import { type PaidPurchase, present } from "./paid.ts";
import type { PurchaseRecord, PurchaseTerms } from "./record.ts";
import { runPurchase } from "./run.ts";

/** The resource to pay for, its recipient and its price. */
export interface PurchaseRequest {
  /** Receives the payment. The caller has checked its signature. */
  recipient: PaymentRecipient;
  /** The recipient's address is paid only before this time, ms. Default: at any time. */
  before?: number | undefined;
  /** Base units. */
  price: bigint;
  /** The resource, exactly as the recipient's server writes it. The proof binds it. */
  resourceUrl: string;
  /** Maximum characters that the recipient's server accepts in X-Payment-Proof. Default and maximum: 8192. */
  maxHeaderLength?: number | undefined;
  /** Fingerprint of the request, the same for equal requests. */
  request?: string | undefined;
  /** Limits that the price counts against. Default: none. */
  limits?: SpendingLimits | undefined;
  /** Host of the limit per host. */
  host?: string | undefined;
}

/** A purchase with a key, which is paid at most once. */
export interface KeyedRequest extends PurchaseRequest {
  /** Names this purchase, 1 to 512 characters. A purchase with a given key is paid at most once. */
  key: string;
}

/**
 * Pays for a resource through `service`, at most once, and returns the proof of payment. Each step is recorded in the
 * wallet's store before it is taken, so after a crash, an abort or an error the same call resumes the purchase.
 * Call `delivered` on the result after the resource was delivered.
 * @throws PurchaseError, ServiceClientError, WalletError; the signal's reason
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
  const terms = parseRequest(service, request);
  const book = await bookOf(wallet.store);
  const id = hashText(key);
  const release = book.claim(id);
  try {
    await assertOpen(book, id);
    const record = book.get(id) ?? (await begin(wallet, book, id, request, terms));
    if (!sameTerms(record, terms))
      throw new PurchaseError(
        "PURCHASE_MISMATCH",
        "the purchase with this key has another recipient, price, resource or service",
        { id },
      );
    return await resume({ wallet, service, book, options, record }, release);
  } catch (error) {
    release();
    options.signal?.throwIfAborted();
    throw error;
  }
}

/** @throws PurchaseError PURCHASE_FINISHED */
export async function assertOpen(book: PurchaseBook, id: string): Promise<void> {
  const finished = await book.finished(id);
  if (finished === undefined) return;
  const { settled } = finished;
  throw new PurchaseError(
    "PURCHASE_FINISHED",
    `the purchase was already paid and delivered, in transaction ${settled.txSignature}`,
    { id, ...settled },
  );
}

/** Resumes a purchase from its recorded state. The caller has claimed it. @param before as for `runPurchase` */
export async function resume(
  context: Context,
  release: () => void,
  before?: () => Promise<void>,
): Promise<PaidPurchase> {
  await runPurchase(context, before);
  return present(context, release);
}

/** @throws SottoError INVALID_AMOUNT and the errors of `parsePaymentRequest`; PurchaseError PROOF_HEADER_TOO_LONG */
export function parseRequest(service: SottoService, request: PurchaseRequest): PurchaseTerms {
  const { recipient, before, price, resourceUrl, maxHeaderLength } = Object(request) as PurchaseRequest;
  assertHeaderLimit(maxHeaderLength);
  const checked = parsePaymentRequest({ recipient, before, amount: assertAmount(price, "price"), resourceUrl });
  return { recipient: checked.recipient, price: String(price), resourceUrl, service: service.url };
}

export function sameTerms(a: PurchaseTerms, b: PurchaseTerms): boolean {
  const text = ({ recipient, price, resourceUrl, service }: PurchaseTerms) =>
    JSON.stringify([recipient.wallet, recipient.shieldedAddress, price, resourceUrl, service]);
  return text(a) === text(b);
}

/** Records a new purchase and reserves its price. */
export async function begin(
  wallet: Wallet,
  book: PurchaseBook,
  id: string,
  { limits, host = "", request = id, maxHeaderLength, before }: PurchaseRequest,
  terms: PurchaseTerms,
  { envelope, attachments = [] }: Pick<PurchaseRecord, "envelope" | "attachments"> = {},
): Promise<PurchaseRecord> {
  const now = wallet.now();
  const record: PurchaseRecord = {
    ...terms,
    id,
    request,
    created: now,
    ...(before === undefined ? {} : { before }),
    reserved: limits === undefined ? null : reservationAt(now, host, limits),
    // If the wallet already has a payment with this id, that payment was proved for other terms, so this one gets
    // another id.
    payments: [wallet.has(id) ? hexlify(randomBytes(16)).slice(2) : id],
    sent: [],
    settled: null,
    headerLimit: assertHeaderLimit(maxHeaderLength),
    ...(envelope && { envelope }),
    ...(attachments.length > 0 && { attachments }),
    shown: 0,
    problem: null,
  };
  await book.begin(record, assertLimits(limits ?? {}));
  return record;
}
