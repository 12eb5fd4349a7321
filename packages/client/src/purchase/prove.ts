import { delay } from "@sotto/chain";
import type { ErrorDetails } from "@sotto/protocol";
import { describeWaiting, type Wallet, WalletError, waitingOf } from "@sotto/wallet";
import { hexlify, randomBytes } from "ethers";
import { chooseNotes, longestWait } from "./attach.ts";
import { type Context, store, tell } from "./context.ts";
import { PurchaseError } from "./errors.ts";
import type { Run } from "./run-state.ts";
import { isUnpaid } from "./unpaid.ts";

const FUNDS_TIMEOUT_MS = 120_000;
const LOOK_MS = 400;
/** Maximum payments of one purchase. Another payment is begun only if the previous one can never settle. */
const MAX_PAYMENTS = 4;

const isCode = (error: unknown, code: string) => error instanceof WalletError && error.code === code;

/**
 * Makes the payment that counts. Its id is journaled with the purchase, so that after a crash the payment is found and
 * not repeated.
 */
export async function proveFirst(run: Run): Promise<void> {
  const { wallet, service, record, options } = run.context;
  const { recipient, before, price, resourceUrl } = record;
  const { url } = service;
  const request = { recipient, before, resourceUrl, service: url, amount: BigInt(price), id: record.payments.at(-1)! };
  const { signal, attachments } = options;
  const submit = ({ withdraw }: { withdraw: Parameters<typeof service.withdraw>[0] }) =>
    service.withdraw(withdraw, { signal });
  const timeoutMs = options.fundsTimeoutMs ?? FUNDS_TIMEOUT_MS;
  const begun = Date.now();
  const end = begun + timeoutMs;
  // Nobody else has seen a proof that is made now, so the chain cannot show more than the record.
  run.stale = false;
  /** The newest block when the wait for a note began. */
  let since: number | undefined;
  for (;;) {
    const { attachments: asked } = run.context.record;
    const waitedMs = since === undefined ? 0 : Math.max(1, Date.now() - begun);
    let isExcluding = false;
    try {
      if (since === undefined) tell(run.context, "proving");
      const choice = await chooseNotes(attachments, asked, { waitedMs });
      isExcluding = choice.only !== undefined;
      await wallet.pay(request, { signal, merge: options.merge ? { submit } : undefined, ...choice });
      return;
    } catch (error) {
      // Notes that an attachment excludes now may qualify soon.
      const isExcluded = isExcluding && isCode(error, "NOTES_APART");
      if (!isCode(error, "FUNDS_NOT_READY") && !isExcluded) throw error;
    }
    if (since === undefined) tell(run.context, "funds");
    since ??= wallet.height;
    const isPatient = isExcluding && waitedMs < longestWait(attachments, asked);
    if (!isPatient && Date.now() > end) throw fundsTimedOut(wallet, timeoutMs, since, { id: record.id });
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
 * can settle any more, replaces the payment. After the end of the address's month, makes no other attempt.
 * @throws PurchaseError SETTLEMENT_UNKNOWN while an earlier attempt may still settle; WalletError ADDRESS_ENDED after that
 */
export async function proveAgain({ context, ended }: Run): Promise<void> {
  const { wallet, record, options } = context;
  tell(context, "proving");
  try {
    const { digest } = await wallet.payAgain(record.payments.at(-1)!, { signal: options.signal });
    ended.delete(digest);
  } catch (error) {
    if (isCode(error, "ADDRESS_ENDED") && !isUnpaid(wallet, context.record)) throw notFinal(context);
    if (!isCode(error, "PAYMENT_CLOSED")) throw error;
    await replacePayment(context);
  }
}

/**
 * Records that another payment counts from now on.
 * @throws PurchaseError SETTLEMENT_UNKNOWN while an attempt at the last payment may still settle
 */
export async function replacePayment(context: Context): Promise<void> {
  const { wallet, record } = context;
  const { id, payments } = record;
  const { state, final } = wallet.status(payments.at(-1)!);
  if (!final || state === "settled") throw notFinal(context);
  if (payments.length >= MAX_PAYMENTS)
    throw new PurchaseError(
      "PAYMENT_REPLACED",
      "other payments of this seed spent its notes repeatedly; nothing was paid",
      { id },
    );
  // The id is random and stored before it is used, so no payment with other terms ever has it.
  await store(context, { payments: [...payments, hexlify(randomBytes(16)).slice(2)] });
}

function notFinal({ wallet, record: { id, payments } }: Context): PurchaseError {
  const { validUntil } = wallet.status(payments.at(-1)!);
  const message = "whether the payment settled is not final yet; repeat the same request";
  return new PurchaseError("SETTLEMENT_UNKNOWN", message, { id, validUntil });
}
