import type { SottoService, Wallet } from "@sotto/wallet";
import { hexlify, randomBytes } from "ethers";
import { bookOf, type PurchaseBook } from "../purchase/book.ts";
import type { PurchaseOptions } from "../purchase/context.ts";
import { PurchaseError } from "../purchase/errors.ts";
import { hashText } from "../purchase/hash.ts";
import type { SpendingLimits } from "../purchase/limits.ts";
import { sweepPurchases } from "../purchase/open.ts";
import { begin, type PurchaseRequest, parseRequest } from "../purchase/purchase.ts";
import type { FinishedRecord, PurchaseRecord } from "../purchase/record.ts";
import { runPurchase } from "../purchase/run.ts";
import { PhonePaymentError } from "./errors.ts";
import { phoneNumberOf } from "./number.ts";
import { type ResolveOptions, resolvePhone } from "./resolve.ts";

/** A payment to a phone number. */
export interface PhonePaymentRequest {
  /** In international form. */
  phone: string;
  /** Base units, at least 1. */
  amount: bigint;
  /** Names this payment, 1 to 256 characters. A number is paid at most once per key. */
  key: string;
  /** The registry that resolves the number. Default: the service that settles. */
  registry?: SottoService | undefined;
  /**
   * The purpose of the payment. The service sees it, and receipts show it; it is never on chain. Default: a random URN.
   */
  resourceUrl?: string | undefined;
  /** Limits that the amount counts against, together with purchases; the host is `phone`. */
  limits?: SpendingLimits | undefined;
}

/** Options of a payment to a phone number. */
export interface PhonePayOptions extends PurchaseOptions, Omit<ResolveOptions, "signal"> {
  /**
   * Called before a new payment begins, and before the registry is asked. Anything but `true` refuses it. Not called
   * when a payment is resumed. Default: each payment within the limits is made.
   */
  confirmPayment?: (() => boolean | Promise<boolean>) | undefined;
}

/** A settled payment to a phone number. */
export interface PhonePayment {
  readonly id: string;
  /** Address of the wallet that was paid. */
  readonly wallet: string;
  /** 64 bytes as hex with 0x. */
  readonly shieldedAddress: string;
  /** Base units. */
  readonly amount: bigint;
  /** Hash of the transaction that settled it. */
  readonly txSignature: string;
  /** keccak256 of its public signals. */
  readonly digest: string;
}

/** The host under which payments to phone numbers count against the limits. */
export const PHONE_HOST = "phone";

/**
 * Pays the wallet that a phone number belongs to, at most once per key. Asks the registry, checks its response, pins
 * the wallet, and pays through `service`. After a crash, an abort or an error, the same call resumes the payment to the
 * wallet that it was started for, even if the number belongs to another wallet by then. After success, the same call
 * returns the same payment.
 * @throws PhonePaymentError, PurchaseError, ServiceClientError, WalletError, SottoError; the signal's reason
 */
export async function payPhone(
  wallet: Wallet,
  service: SottoService,
  request: PhonePaymentRequest,
  options: PhonePayOptions = {},
): Promise<PhonePayment> {
  const { amount, key, registry = service, limits } = Object(request) as PhonePaymentRequest;
  const phone = phoneNumberOf(Object(request).phone);
  if (typeof key !== "string" || key === "" || key.length > 256)
    throw new PhonePaymentError("PHONE_OPTION_INVALID", "key must be a text of 1 to 256 characters");
  // The same key with another number names another payment.
  const id = hashText(`phone ${phone} ${key}`);
  const { resourceUrl } = request;
  const book = await bookOf(wallet.store);
  const release = book.claim(id);
  try {
    const over = await book.finished(id);
    if (over !== undefined) return paid(assertSameTerms(over, service, amount, resourceUrl));
    const known = await begun(wallet, book, id);
    if (known !== undefined) assertSameTerms(known, service, amount, resourceUrl);
    const start = async () => {
      await sweepPurchases(wallet, book);
      if (options.confirmPayment !== undefined && (await options.confirmPayment()) !== true)
        throw new PhonePaymentError("PAYMENT_DECLINED", "the payment to this number was declined");
      const recipient = await resolvePhone(wallet, registry, phone, options);
      const payment: PurchaseRequest = {
        recipient,
        price: amount,
        resourceUrl: resourceUrl ?? randomPurpose(),
        host: PHONE_HOST,
        limits,
      };
      return begin(wallet, book, id, payment, parseRequest(service, payment));
    };
    const context = { wallet, service, book, options, record: known ?? (await start()) };
    await runPurchase(context);
    await book.finish(context.record);
    return paid(context.record as FinishedRecord);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw error;
  } finally {
    release();
  }
}

const NOTHING = "urn:sotto:phone:";

/**
 * Random, because a service that does not resolve the number could otherwise find it by hashing all numbers with a
 * guessed key.
 */
const randomPurpose = (): string => `${NOTHING}${hexlify(randomBytes(16)).slice(2)}`;

/** The recorded payment, if a proof of it was made and may have left the process. */
async function begun(wallet: Wallet, book: PurchaseBook, id: string): Promise<PurchaseRecord | undefined> {
  const record = book.get(id);
  if (record === undefined || record.payments.some((payment) => wallet.has(payment))) return record;
  // Nothing was proved yet, so the number is resolved again and its current wallet is paid.
  await book.abandon(record);
  return undefined;
}

function assertSameTerms<T extends PurchaseRecord | FinishedRecord>(
  record: T,
  service: SottoService,
  amount: bigint,
  resourceUrl: string | undefined,
): T {
  const { id, price, resourceUrl: known } = record;
  const samePurpose = resourceUrl === undefined ? known.startsWith(NOTHING) : known === resourceUrl;
  if (price === String(amount) && samePurpose && record.service === service.url) return record;
  throw new PurchaseError("PURCHASE_MISMATCH", "the payment with this key has another amount, service or purpose", {
    id,
  });
}

function paid({ id, recipient, price, settled }: FinishedRecord): PhonePayment {
  const { wallet, shieldedAddress } = recipient;
  return { id, wallet, shieldedAddress, amount: BigInt(price), ...settled };
}
