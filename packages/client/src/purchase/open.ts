import type { ErrorDetails } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { bookOf, type PurchaseBook } from "./book.ts";
import { PurchaseError } from "./errors.ts";
import { problemError } from "./paid.ts";
import { type OpenStateName, PURCHASE_STATES, stateOf } from "./states.ts";
import { abandon, cannotSettle, isDismissible } from "./unpaid.ts";

/** An unfinished purchase, for display. */
export interface OpenPurchase {
  /** For `dismissPurchase`. */
  id: string;
  /** When it was begun, milliseconds. */
  created: number;
  /** Address of the recipient's wallet. */
  recipient: string;
  /** Base units. */
  price: bigint;
  resourceUrl: string;
  /** Base URL of the service that settles it. */
  service: string;
  /**
   * paying: not known to be paid. paid: its proof has not been delivered yet. stopped: needs a decision, see
   * `dismissPurchase`.
   */
  state: "paying" | "paid" | "stopped";
  /** Its state in the table of `PURCHASE_STATES`. */
  step: OpenStateName;
  /** The error that stopped it. */
  problem?: PurchaseError | undefined;
}

/** All unfinished purchases, oldest first. */
export async function openPurchases(wallet: Wallet): Promise<OpenPurchase[]> {
  return (await bookOf(wallet.store)).list().map((record) => {
    const { id, created, recipient, price, resourceUrl, service, problem } = record;
    const step = stateOf(record, wallet);
    return {
      id,
      created,
      recipient: recipient.wallet,
      price: BigInt(price),
      resourceUrl,
      service,
      state: PURCHASE_STATES[step].shown,
      step,
      problem: problem === null ? undefined : problemError(record),
    };
  });
}

/**
 * Closes a purchase permanently. If it was paid but not delivered, the money is spent, a refund is between the user and
 * the recipient, and an equal request may be paid again. If it was not paid and no proof of it can settle, its price no
 * longer counts against the limits. The same holds if its only proofs are dated in the future, because the clock was ahead:
 * the wallet first spends their note, since anyone who has such a proof could settle it until then.
 * @throws PurchaseError UNKNOWN_PURCHASE, PURCHASE_IN_PROGRESS
 */
export async function dismissPurchase(wallet: Wallet, id: string): Promise<void> {
  const book = await bookOf(wallet.store);
  const record = book.get(id);
  if (record === undefined) throw undecided({ id: String(id) }, "there is no open purchase with this id");
  const release = book.claim(id);
  try {
    if (record.problem !== null) return await book.finish(record);
    if (record.settled !== null)
      throw undecided(
        { id, state: "paid" },
        "the purchase is paid, and its proof was not shown yet: repeat the same request to show it",
      );
    if (record.sent.length > 0) await wallet.scan();
    if (!isDismissible(wallet, record))
      throw undecided(
        { id, state: "paying" },
        "the purchase may still be paid: repeat the same request to resume it, or dismiss it later",
      );
    await abandon(wallet, book, record);
  } finally {
    release();
  }
}

const undecided = (details: ErrorDetails, message: string) => new PurchaseError("UNKNOWN_PURCHASE", message, details);

/** Closes purchases that can never be paid, so that their prices no longer count against the limits. */
export async function sweepPurchases(wallet: Wallet, book: PurchaseBook): Promise<void> {
  for (const record of book.list()) {
    const { id, created, settled, payments } = record;
    const begun = payments.some((payment) => wallet.has(payment));
    const over = begun ? cannotSettle(wallet, record) : Math.abs(wallet.now() - created) > ABANDONED_MS;
    if (settled !== null || !over || book.busy(id)) continue;
    const release = book.claim(id);
    await abandon(wallet, book, record).finally(release);
  }
}

/** Age at which a purchase without a payment is abandoned, ms. */
const ABANDONED_MS = 600_000;
