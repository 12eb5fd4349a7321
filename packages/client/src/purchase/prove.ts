import type { ErrorDetails, WireBundle } from "@sotto/protocol";
import { hexlify, randomBytes } from "ethers";
import { WalletError } from "../errors.ts";
import { wait } from "../wait.ts";
import { describeWaiting, waitingOf } from "../wallet/waiting.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { type Context, store, tell, withSignal } from "./context.ts";
import { PurchaseError } from "./errors.ts";

/** A proof that can be sent. */
export interface Proved {
  digest: string;
  bundle: WireBundle;
}

const FUNDS_TIMEOUT_MS = 120_000;
const LOOK_MS = 400;
/** Payments of one purchase: another one is begun only where the one before can never settle. */
const MOST_PAYMENTS = 4;

const isCode = (error: unknown, code: string) => error instanceof WalletError && error.code === code;

/** A first payment. Its id was journalled with the purchase, so that after a crash it is found and not made again. */
export async function firstPayment(context: Context): Promise<Proved> {
  const { wallet, service, record, options } = context;
  const { recipient, price, resourceUrl } = record;
  const { url } = service;
  const request = { recipient, resourceUrl, service: url, amount: BigInt(price), id: record.payments.at(-1)! };
  const submit = ({ withdraw }: { withdraw: Parameters<typeof service.withdraw>[0] }) =>
    service.withdraw(withdraw, withSignal(options));
  const timeoutMs = options.fundsTimeoutMs ?? FUNDS_TIMEOUT_MS;
  const end = Date.now() + timeoutMs;
  /** The newest block when the wait for a note began. */
  let since: number | undefined;
  for (;;) {
    try {
      if (since === undefined) tell(context, "proving");
      return await wallet.pay(request, { ...withSignal(options), ...(options.merge ? { merge: { submit } } : {}) });
    } catch (error) {
      if (!isCode(error, "FUNDS_NOT_READY")) throw error;
    }
    if (since === undefined) tell(context, "funds");
    since ??= wallet.height;
    if (Date.now() > end) throw fundsTimedOut(wallet, timeoutMs, since, { id: record.id });
    await wait(LOOK_MS, options.signal);
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
 * Another attempt, from the same note: at most one of all can settle. Where the note is gone and no attempt can settle any
 * more, another payment.
 */
export async function nextPayment(context: Context): Promise<Proved> {
  const { wallet, record, options } = context;
  tell(context, "proving");
  try {
    return await wallet.payAgain(record.payments.at(-1)!, withSignal(options));
  } catch (error) {
    if (!isCode(error, "PAYMENT_CLOSED")) throw error;
    return otherPayment(context);
  }
}

/** @throws PurchaseError SETTLEMENT_UNKNOWN while an attempt of the last payment may still settle */
export async function otherPayment(context: Context): Promise<Proved> {
  const { wallet, record } = context;
  const { id, payments } = record;
  const { state, final, validUntil } = wallet.status(payments.at(-1)!);
  if (!final || state === "settled")
    throw new PurchaseError("SETTLEMENT_UNKNOWN", "whether it was paid is not final yet: call again", {
      id,
      validUntil,
    });
  if (payments.length >= MOST_PAYMENTS)
    throw new PurchaseError("PAYMENT_REPLACED", "its notes are spent elsewhere, time after time: nothing was paid", {
      id,
    });
  // Random, and stored before it is used: no payment of other terms ever has this name.
  await store(context, { payments: [...payments, hexlify(randomBytes(16)).slice(2)] });
  return firstPayment(context);
}
