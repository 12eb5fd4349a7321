import type { Wallet } from "../wallet/wallet.ts";
import { bookOf, type PurchaseBook } from "./book.ts";
import { PurchaseError } from "./errors.ts";
import { problemError } from "./paid.ts";
import type { PurchaseRecord } from "./record.ts";

/** A purchase that is not over, as its owner sees it. */
export interface OpenPurchase {
  id: string;
  created: number;
  recipient: string;
  /** Base units. */
  price: bigint;
  resourceUrl: string;
  service: string;
  /** paying: not paid yet, as far as is known. paid: to be shown. stopped: it needs a decision, see `dismissPurchase`. */
  state: "paying" | "paid" | "stopped";
  /** The error it stopped with. */
  problem?: PurchaseError;
}

/** All purchases that are not over, oldest first. */
export async function openPurchases(wallet: Wallet): Promise<OpenPurchase[]> {
  return (await bookOf(wallet.store)).list().map((record) => {
    const { id, created, recipient, price, resourceUrl, service, settled, problem } = record;
    const state = problem !== null ? "stopped" : settled === null ? "paying" : "paid";
    const told = {
      id,
      created,
      recipient: recipient.wallet,
      price: BigInt(price),
      resourceUrl,
      service,
      state,
    } as const;
    return problem === null ? told : { ...told, problem: problemError(record) };
  });
}

/**
 * Closes a purchase that was paid and not delivered: the money is spent, a claim is between its owner and the recipient.
 * Only then may an equal request be paid again.
 * @throws PurchaseError UNKNOWN_PURCHASE
 */
export async function dismissPurchase(wallet: Wallet, id: string): Promise<void> {
  const book = await bookOf(wallet.store);
  const record = book.get(id);
  if (record?.problem == null)
    throw new PurchaseError("UNKNOWN_PURCHASE", "no purchase of this id needs a decision", { id: String(id) });
  await book.finish(record);
}

/** Whether nothing that this purchase ever made can settle any more, as of the wallet's last scan. */
export function cannotSettle(wallet: Wallet, { payments, settled }: PurchaseRecord): boolean {
  return (
    settled === null &&
    payments.every((payment) => {
      if (!wallet.has(payment)) return true;
      const { state, final } = wallet.status(payment);
      return final && state !== "settled";
    })
  );
}

/** Closes purchases that were begun and can never be paid any more, and gives their price back to the limits. */
export async function sweepPurchases(wallet: Wallet, book: PurchaseBook): Promise<void> {
  for (const record of book.list()) {
    const { id, created, settled, payments } = record;
    const begun = payments.some((payment) => wallet.has(payment));
    const over = begun ? cannotSettle(wallet, record) : wallet.now() - created > ABANDONED_MS;
    if (settled !== null || !over || book.busy(id)) continue;
    const release = book.claim(id);
    await book.abandon(record).finally(release);
  }
}

/** Time after which a purchase that never came to a payment is given up, ms. */
const ABANDONED_MS = 600_000;
