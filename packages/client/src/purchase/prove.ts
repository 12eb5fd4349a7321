import { delay } from "@sotto/chain";
import type { ErrorDetails, WireBundle } from "@sotto/protocol";
import { hexlify, randomBytes } from "ethers";
import { WalletError } from "../errors.ts";
import { describeWaiting, waitingOf } from "../wallet/waiting.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { type Context, store, tell } from "./context.ts";
import { PurchaseError } from "./errors.ts";

/** A bundle that is ready to be sent. */
export interface Proved {
  digest: string;
  bundle: WireBundle;
}

const FUNDS_TIMEOUT_MS = 120_000;
const LOOK_MS = 400;
/** Maximum payments of one purchase. Another payment is begun only if the previous one can never settle. */
const MAX_PAYMENTS = 4;

const isCode = (error: unknown, code: string) => error instanceof WalletError && error.code === code;

/**
 * Makes the first payment. Its id is journaled with the purchase, so that after a crash the payment is found and not
 * repeated.
 */
export async function firstPayment(context: Context): Promise<Proved> {
  const { wallet, service, record, options } = context;
  const { recipient, price, resourceUrl } = record;
  const { url } = service;
  const request = { recipient, resourceUrl, service: url, amount: BigInt(price), id: record.payments.at(-1)! };
  const { signal } = options;
  const submit = ({ withdraw }: { withdraw: Parameters<typeof service.withdraw>[0] }) =>
    service.withdraw(withdraw, { signal });
  const timeoutMs = options.fundsTimeoutMs ?? FUNDS_TIMEOUT_MS;
  const end = Date.now() + timeoutMs;
  /** The newest block when the wait for a note began. */
  let since: number | undefined;
  for (;;) {
    try {
      if (since === undefined) tell(context, "proving");
      return await wallet.pay(request, { signal, merge: options.merge ? { submit } : undefined });
    } catch (error) {
      if (!isCode(error, "FUNDS_NOT_READY")) throw error;
    }
    if (since === undefined) tell(context, "funds");
    since ??= wallet.height;
    if (Date.now() > end) throw fundsTimedOut(wallet, timeoutMs, since, { id: record.id });
    await delay(LOOK_MS, signal);
  }
}

/** @param since the newest block when the wait began */
export function fundsTimedOut(wallet: Wallet, timeoutMs: number, since: number, details: ErrorDetails = {}) {
  const waiting = waitingOf(wallet, since);
  const { cause, pending, queued, held } = waiting;
  const why = describeWaiting(wallet, waiting);
  const message = `no note became spendable within ${timeoutMs / 1000} s, so nothing was paid; try again: ${why}`;
  const amounts = { pending: String(pending), queued: String(queued), held: String(held) };
  return new PurchaseError("FUNDS_TIMED_OUT", message, { ...details, cause, ...amounts });
}

/**
 * Makes another attempt from the same note; at most one of the attempts can settle. If the note is spent and no attempt
 * can settle any more, makes another payment.
 */
export async function nextPayment(context: Context): Promise<Proved> {
  const { wallet, record, options } = context;
  tell(context, "proving");
  try {
    return await wallet.payAgain(record.payments.at(-1)!, { signal: options.signal });
  } catch (error) {
    if (!isCode(error, "PAYMENT_CLOSED")) throw error;
    return otherPayment(context);
  }
}

/** @throws PurchaseError SETTLEMENT_UNKNOWN while an attempt at the last payment may still settle */
export async function otherPayment(context: Context): Promise<Proved> {
  const { wallet, record } = context;
  const { id, payments } = record;
  const { state, final, validUntil } = wallet.status(payments.at(-1)!);
  if (!final || state === "settled")
    throw new PurchaseError(
      "SETTLEMENT_UNKNOWN",
      "whether the payment settled is not final yet; repeat the same request",
      {
        id,
        validUntil,
      },
    );
  if (payments.length >= MAX_PAYMENTS)
    throw new PurchaseError(
      "PAYMENT_REPLACED",
      "other payments of this seed spent its notes repeatedly; nothing was paid",
      {
        id,
      },
    );
  // The id is random and stored before it is used, so no payment with other terms ever has it.
  await store(context, { payments: [...payments, hexlify(randomBytes(16)).slice(2)] });
  return firstPayment(context);
}
