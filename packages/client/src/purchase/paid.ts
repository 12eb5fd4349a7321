import { encodeProofHeader } from "@sotto/protocol";
import { quoted, ServiceError } from "../service/errors.ts";
import { type Context, store, tell } from "./context.ts";
import { PurchaseError } from "./errors.ts";
import type { Problem, PurchaseRecord, SentAttempt } from "./record.ts";
import { verifiedToken } from "./settle.ts";

/** How old a proof may be when it is shown, ms: resource servers take 300,000, and the request needs its time. */
export const HEADER_FRESH_MS = 295_000;

/** What a server said when it refused a proof. */
export interface Refusal {
  status: number;
  reason: string;
}

/**
 * A purchase that is paid: on chain, with the proof of it. It stays in the wallet's store until `delivered` is called, so
 * that a crash in between loses nothing.
 */
export interface PaidPurchase {
  readonly id: string;
  /** Value of X-Payment-Proof. Good for one use, and for five minutes from `timestamp`. A secret until then. */
  readonly header: string;
  /** The transaction that settled it. */
  readonly txSignature: string;
  /** keccak256 of its public signals. With the nullifier it names the payment on chain. */
  readonly digest: string;
  readonly nullifier: string;
  /** Base units. */
  readonly price: bigint;
  readonly resourceUrl: string;
  /** When its proof was made, ms. */
  readonly timestamp: number;
  /** Notes that the proof is about to be shown. Call it before. */
  showing(): Promise<void>;
  /** The thing was delivered: the purchase is over. */
  delivered(): Promise<void>;
  /** The server refused the proof: nothing is paid again before a decision. @returns the error to throw */
  refused(refusal: Refusal): Promise<PurchaseError>;
  /** Leaves the purchase as it is, for a later call to take up. */
  release(): void;
}

/** All that a claim for a refund needs. */
function claimOf(record: PurchaseRecord, { bundle }: Pick<SentAttempt, "bundle">) {
  const { id, price, resourceUrl, recipient, settled } = record;
  return {
    id,
    txSignature: settled!.txSignature,
    digest: settled!.digest,
    nullifier: bundle.publicSignals[6] ?? "",
    amount: price,
    resource: resourceUrl,
    recipient: recipient.wallet,
    timestamp: bundle.timestamp,
  };
}

/** The attempt that the chain has. */
function settledAttempt(record: PurchaseRecord): SentAttempt {
  const found = record.sent.find(({ digest }) => digest === record.settled?.digest);
  if (found === undefined)
    throw new PurchaseError("PURCHASE_INVALID", `purchase ${record.id} does not know the attempt that was settled`);
  return found;
}

/** The error of a purchase that waits for its owner's decision. */
export function problemError(record: PurchaseRecord): PurchaseError {
  const { code, message, reason, status } = record.problem!;
  const details = { ...claimOf(record, settledAttempt(record)), ...(reason === "" ? {} : { reason, status }) };
  return new PurchaseError(code, message, details);
}

async function stop(context: Context, problem: Problem): Promise<PurchaseError> {
  await store(context, { problem });
  return problemError(context.record);
}

/** @throws PurchaseError PAID_BUT_STALE, PAID_BUT_REFUSED */
export async function present(context: Context, release: () => void): Promise<PaidPurchase> {
  const attempt = settledAttempt(context.record);
  const { bundle, digest } = attempt;
  const { txSignature } = context.record.settled!;
  if (context.wallet.now() - bundle.timestamp > HEADER_FRESH_MS)
    throw await stop(context, {
      code: "PAID_BUT_STALE",
      message: "it was paid, and its proof is more than five minutes old: it is not paid again before it is dismissed",
      reason: "",
      status: 0,
    });
  const paymentToken = await tokenOf(context, attempt);
  const header = encodeProofHeader({ bundle, paymentToken, txSignature }, context.record.headerLimit);
  const { id, price, resourceUrl } = context.record;
  tell(context, "paid", { txSignature });
  return {
    id,
    header,
    txSignature,
    digest,
    nullifier: bundle.publicSignals[6]!,
    price: BigInt(price),
    resourceUrl,
    timestamp: bundle.timestamp,
    showing: () => store(context, { shown: context.record.shown + 1 }),
    delivered: async () => {
      await context.book.finish(context.record);
      tell(context, "delivered", { txSignature });
      release();
    },
    refused: async ({ status, reason }) => {
      const said = quoted(reason) || "no reason given";
      const message = `it was paid, and the server refuses the proof (${status}): ${said}`;
      const error = await stop(context, { code: "PAID_BUT_REFUSED", message, reason: said, status });
      release();
      return error;
    },
    release,
  };
}

/** A payment can land before its token was stored: whoever held the bundle may have settled it. */
async function tokenOf(context: Context, attempt: SentAttempt): Promise<string> {
  if (attempt.token !== "") return attempt.token;
  try {
    return await verifiedToken(context, attempt);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "PAYMENT_INVALID") throw error;
    const message = "it was paid, and the service gives no token for it: no server takes the proof without one";
    throw await stop(context, { code: "PAID_BUT_REFUSED", message, reason: error.message, status: 0 });
  }
}
