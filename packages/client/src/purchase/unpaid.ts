// Purchases that were begun but never paid: when they are closed and their prices stop counting against the limits.
import type { Wallet } from "@sotto/wallet";
import type { PurchaseBook } from "./book.ts";
import type { PurchaseRecord } from "./record.ts";

/** Whether this payment does not exist or, as the chain shows, none of its attempts can settle any more. */
function isOver(wallet: Wallet, payment: string): boolean {
  if (!wallet.has(payment)) return true;
  const { state, final } = wallet.status(payment);
  return final && state !== "settled";
}

/** Whether no proof of this payment has left the process: a proof is recorded in `sent` before anyone else sees it. */
const isUnsent = ({ sent }: PurchaseRecord, payment: string): boolean =>
  !sent.some((attempt) => attempt.payment === payment);

/** Whether this payment released its note, because the clock was ahead. */
const isReleased = (wallet: Wallet, payment: string): boolean => wallet.status(payment).released === true;

/**
 * Whether a purchase can be dismissed: it is unpaid, or could settle only with a proof that is dated in the future. The
 * wallet spends the note of such a proof first, so the proof cannot settle too if the purchase is repeated.
 */
export function isDismissible(wallet: Wallet, record: PurchaseRecord): boolean {
  const { payments, settled } = record;
  const isOut = (payment: string) =>
    isUnsent(record, payment) || isOver(wallet, payment) || isReleased(wallet, payment);
  return settled === null && payments.every(isOut);
}

/** Whether no payment of this purchase can settle any more, as of the wallet's last scan. */
export function cannotSettle(wallet: Wallet, { payments, settled }: PurchaseRecord): boolean {
  return settled === null && payments.every((payment) => isOver(wallet, payment));
}

/** Whether this purchase was not paid and, unless it is resumed, never will be. */
export function isUnpaid(wallet: Wallet, record: PurchaseRecord): boolean {
  const { payments, settled } = record;
  return settled === null && payments.every((payment) => isUnsent(record, payment) || isOver(wallet, payment));
}

/** Closes an unpaid purchase: its price no longer counts against the limits, and the notes it held are released. */
export async function abandon(wallet: Wallet, book: PurchaseBook, record: PurchaseRecord): Promise<void> {
  await book.abandon(record);
  for (const payment of record.payments)
    if (wallet.has(payment) && isUnsent(record, payment)) await wallet.discard(payment);
}
