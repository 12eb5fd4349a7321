// Takes a purchase from its recorded state until it is paid: one loop over the table in states.ts.
import type { Context } from "./context.ts";
import { problemError } from "./paid.ts";
import { proveAgain, proveFirst } from "./prove.ts";
import { readChain } from "./read-chain.ts";
import type { Run } from "./run-state.ts";
import { recordSent, settle, verify } from "./settle.ts";
import { type PayingStateName, stateOf } from "./states.ts";
import { abandon, isUnpaid } from "./unpaid.ts";

/** How a purchase leaves each of the states in which it is not known to be paid. */
const STEPS: Record<PayingStateName, (run: Run) => Promise<void>> = {
  begun: proveFirst,
  proving: proveAgain,
  proved: recordSent,
  sent: verify,
  verified: settle,
};

/**
 * Pays a purchase, from any state. If it fails and the purchase is unpaid, the purchase is closed. If a proof may have
 * left the process, the purchase stays open and its price stays reserved: the payment may still settle.
 * @param before what the caller does first, such as splitting notes
 * @throws PurchaseError, ServiceClientError, WalletError; the signal's reason
 */
export async function runPurchase(context: Context, before?: () => Promise<void>): Promise<void> {
  const run: Run = { context, ended: new Set(), refusals: 0, stale: true };
  try {
    await before?.();
    context.options.signal?.throwIfAborted();
    for (;;) {
      const state = stateOf(context.record, context.wallet, run.ended);
      if (state === "stopped") throw problemError(context.record);
      if (state === "paid" || state === "shown") return;
      if (run.stale && state !== "begun") await readChain(run);
      else await STEPS[state](run);
    }
  } catch (error) {
    const { wallet, book, record } = context;
    // If the store fails here, the reservation stays until a later purchase sweeps it; the first error is more
    // informative.
    if (isUnpaid(wallet, record)) await abandon(wallet, book, record).catch(() => undefined);
    throw error;
  }
}
