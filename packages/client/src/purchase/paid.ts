import { encodeProofHeader, endingWith, MAX_PAYMENT_AGE_MS, PAYMENT_SIGNAL, quoted } from "@sotto/protocol";
import { ServiceClientError } from "@sotto/wallet";
import { attachedHeaders } from "./attach.ts";
import { type Context, store, tell } from "./context.ts";
import { PurchaseError } from "./errors.ts";
import type { Problem, PurchaseRecord, SentAttempt } from "./record.ts";
import { storeToken } from "./settle.ts";

/**
 * Maximum age of a proof when it is sent, ms: 5 s less than resource servers accept, which leaves time for the request
 * itself.
 */
export const HEADER_FRESH_MS = MAX_PAYMENT_AGE_MS - 5_000;

/** Stands for the reason of a server that gave none. */
const NO_REASON = "no reason given";

/** A server's response when it refused a proof. */
export interface Refusal {
  /** HTTP status. */
  status: number;
  /** The message of the response. */
  reason: string;
}

/**
 * A purchase that is settled on chain, with its proof. It stays in the wallet's store until `delivered` is called, so a
 * crash loses nothing.
 */
export interface PaidPurchase {
  readonly id: string;
  /**
   * Value of X-Payment-Proof. Valid once, for five minutes from `timestamp`. Keep it secret until it is used or no
   * longer valid.
   */
  readonly header: string;
  /** Further request headers, which show what the server asks for beside the payment. */
  readonly attached: Readonly<Record<string, string>>;
  /** Hash of the transaction that settled it. */
  readonly txSignature: string;
  /** keccak256 of its public signals. Together with the nullifier, it identifies the payment on chain. */
  readonly digest: string;
  /** Nullifier of the spent note, decimal. */
  readonly nullifier: string;
  /** Base units. */
  readonly price: bigint;
  /** The resource that was paid for. */
  readonly resourceUrl: string;
  /** When its proof was made, ms. */
  readonly timestamp: number;
  /** Records that the proof is about to be sent. Call it before sending. */
  showing(): Promise<void>;
  /** Closes the purchase. Call it after delivery. */
  delivered(): Promise<void>;
  /**
   * Records that the server refused the proof. Nothing is paid again until the user decides.
   * @returns the error to throw
   */
  refused(refusal: Refusal): Promise<PurchaseError>;
  /** Releases the claim, so that a later call can resume the purchase. */
  release(): void;
}

/** The facts that a refund claim needs. */
function claimOf(record: PurchaseRecord, { bundle }: Pick<SentAttempt, "bundle">) {
  const { id, price, resourceUrl, recipient, settled } = record;
  return {
    id,
    txSignature: settled!.txSignature,
    digest: settled!.digest,
    nullifier: bundle.publicSignals[PAYMENT_SIGNAL.nullifier] ?? "",
    amount: price,
    resource: resourceUrl,
    recipient: recipient.wallet,
    timestamp: bundle.timestamp,
  };
}

/** The attempt that settled on chain. */
function settledAttempt(record: PurchaseRecord): SentAttempt {
  const found = record.sent.find(({ digest }) => digest === record.settled?.digest);
  if (found === undefined)
    throw new PurchaseError("PURCHASE_INVALID", `the record of purchase ${record.id} lacks the attempt that settled`);
  return found;
}

/** The error of a purchase that waits for the user's decision. */
export function problemError(record: PurchaseRecord): PurchaseError {
  const { code, message, reason, status } = record.problem!;
  const foreign = reason === NO_REASON ? "" : reason;
  const details = { ...claimOf(record, settledAttempt(record)), ...(reason === "" ? {} : { reason, status }) };
  return new PurchaseError(code, endingWith(message, foreign), details);
}

function notYet({ id }: PurchaseRecord, timestamp: number, cause: unknown): PurchaseError {
  const due = new Date(timestamp).toISOString();
  const message = `the payment is settled, but its proof is dated ${due}, because this machine's clock was ahead; repeat the same request then`;
  return new PurchaseError("PAID_NOT_TAKEN_YET", message, { id, reason: "TIMESTAMP_IN_FUTURE" }, { cause });
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
  if (context.options.anyAge !== true && (await isStale(context, bundle.timestamp)))
    throw await stop(context, {
      code: "PAID_BUT_STALE",
      message:
        "the payment is settled, but its proof is more than five minutes old; nothing is paid again until this purchase is dismissed",
      reason: "",
      status: 0,
    });
  const paymentToken = await tokenOf(context, attempt);
  const header = encodeProofHeader({ bundle, paymentToken, txSignature }, context.record.headerLimit);
  const { id, price, resourceUrl } = context.record;
  const attached = attachedHeaders(context.record.attachments, attempt.payment);
  tell(context, "paid", { txSignature });
  return {
    id,
    header,
    attached,
    txSignature,
    digest,
    nullifier: bundle.publicSignals[PAYMENT_SIGNAL.nullifier]!,
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
      const said = quoted(reason) || NO_REASON;
      const message = `the payment is settled, but the server refused the proof (${status}): ${said}`;
      const error = await stop(context, { code: "PAID_BUT_REFUSED", message, reason: said, status });
      release();
      return error;
    },
    release,
  };
}

/** Whether a proof is too old, also by the chain's time, because the purchase stops for good. @param timestamp ms */
async function isStale({ wallet, options }: Context, timestamp: number): Promise<boolean> {
  if (wallet.now() - timestamp <= HEADER_FRESH_MS) return false;
  await wallet.scan({ signal: options.signal });
  return wallet.pastTime() - timestamp > HEADER_FRESH_MS;
}

/**
 * Gets a token for a payment that settled before its token was stored: anyone who had the bundle may have settled it.
 */
async function tokenOf(context: Context, attempt: SentAttempt): Promise<string> {
  const { token, bundle } = attempt;
  if (token !== "") return token;
  try {
    return await storeToken(context, attempt);
  } catch (error) {
    if (!(error instanceof ServiceClientError) || error.code !== "PAYMENT_INVALID") throw error;
    // The clock was ahead when the payment was proved, and someone else settled it. Its time comes.
    if (error.details["reason"] === "TIMESTAMP_IN_FUTURE") throw notYet(context.record, bundle.timestamp, error);
    const message = "the payment is settled, but the service issues no token for it, and servers require one";
    throw await stop(context, { code: "PAID_BUT_REFUSED", message, reason: error.message, status: 0 });
  }
}
