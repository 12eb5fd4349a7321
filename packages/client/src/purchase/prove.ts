import type { WireBundle } from "@sotto/protocol";
import { hexlify, randomBytes } from "ethers";
import { WalletError } from "../errors.ts";
import { wait } from "../wait.ts";
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
  const request = { recipient, resourceUrl, amount: BigInt(price), id: record.payments.at(-1)! };
  const submit = ({ withdraw }: { withdraw: Parameters<typeof service.withdraw>[0] }) =>
    service.withdraw(withdraw, withSignal(options));
  const end = Date.now() + (options.fundsTimeoutMs ?? FUNDS_TIMEOUT_MS);
  for (let told = false; ; ) {
    try {
      if (!told) tell(context, "proving");
      return await wallet.pay(request, { ...withSignal(options), ...(options.merge ? { merge: { submit } } : {}) });
    } catch (error) {
      if (!isCode(error, "FUNDS_NOT_READY")) throw error;
      if (Date.now() > end)
        throw new PurchaseError("FUNDS_TIMED_OUT", "no note became spendable in time: nothing was paid, call again", {
          id: record.id,
        });
    }
    if (!told) tell(context, "funds");
    told = true;
    await wait(LOOK_MS, options.signal);
  }
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
