import { delay } from "@sotto/chain";
import { assertAmount } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import { expectCount } from "./connect.ts";
import type { ScanOptions, WalletCore } from "./core.ts";
import { type Payment, pay } from "./pay.ts";
import { checkPayment, type PaymentRequest } from "./payment-request.ts";
import { merge, renew, type Withdrawal } from "./withdraw.ts";
import type { Fee } from "./withdrawal-terms.ts";

/** How a payment may merge notes first. */
export interface AutoMerge {
  /** Sends a merge: to a relayer, or to the chain. Told before each, with what it joins. */
  submit(merge: Withdrawal): Promise<unknown>;
  fee?: Fee;
  /** How long a merged note may take to become spendable, milliseconds; 600,000 if left out. */
  timeout?: number;
  /** Milliseconds between two looks at the chain; 3,000 if left out. */
  interval?: number;
}

export interface PayOptions extends ScanOptions {
  /**
   * Merges notes first if no single one is large enough (left out: the wallet says MERGE_REQUIRED), or if each one that is
   * was shown to another recipient or service by a payment that did not settle (left out: it pays from such a note).
   */
  merge?: AutoMerge | undefined;
}

/**
 * A payment that merges notes first as often as it takes: eight notes a merge, each has to settle and to be appended.
 * @throws WalletError TIMED_OUT, and whatever `pay` and `merge` throw
 */
export async function payMerging(
  core: WalletCore,
  request: PaymentRequest,
  auto: AutoMerge,
  options: ScanOptions,
): Promise<Payment> {
  const { amount } = checkPayment(request);
  if (typeof auto?.submit !== "function") throw new WalletError("INVALID_OPTION", "merge.submit must be a function");
  const timeout = expectCount(auto.timeout ?? 600_000, "merge.timeout", 0);
  const interval = expectCount(auto.interval ?? 3_000, "merge.interval", 1);
  const fee = auto.fee ? { fee: auto.fee } : {};
  const mergeFee = assertAmount(auto.fee?.amount ?? 0n, "merge.fee.amount");
  for (;;) {
    let shown: unknown;
    try {
      return await pay(core, request, { ...options, mergeFee });
    } catch (error) {
      if (!(error instanceof WalletError) || error.code !== "MERGE_REQUIRED") throw error;
      shown = error.details["shown"];
    }
    const merged =
      typeof shown === "number"
        ? await renew(core, shown, fee, options)
        : await merge(core, { target: amount, ...fee }, options);
    const submitted = auto.submit(merged);
    await (typeof shown === "number" ? submitted.catch(notRenewed(shown)) : submitted);
    await untilSpendable(core, merged, timeout, interval, options.signal);
  }
}

/** A service that takes no merges delays the payment until the note is free again, and does not prevent it. */
const notRenewed = (leafIndex: number) => (cause: unknown) => {
  const message = `merging note ${leafIndex} first failed: once that merge has expired, the payment spends it as it is`;
  throw new WalletError("FUNDS_NOT_READY", message, { note: leafIndex }, { cause });
};

async function untilSpendable(
  core: WalletCore,
  merged: Withdrawal,
  timeout: number,
  interval: number,
  signal?: AbortSignal,
) {
  const end = Date.now() + timeout;
  for (;;) {
    await core.lock.run(() => core.scan(signal ? { signal } : {}));
    const spent = new Set(merged.notes);
    const spend = [...core.sync.ledger.spends.values()].find(({ leafIndex }) => spent.has(leafIndex));
    if (spend !== undefined && spend.digest !== merged.digest)
      throw new WalletError("PAYMENT_CLOSED", `the notes of merge ${merged.id} were spent in ${spend.transactionHash}`);
    const output = core
      .notes()
      .find(({ origin, transactionHash }) => origin === "output" && transactionHash === spend?.transactionHash);
    if (output?.state === "spendable") return;
    if (Date.now() > end)
      throw new WalletError("TIMED_OUT", `merge ${merged.id} is not spendable after ${timeout} ms: pay again later`);
    await delay(interval, signal);
  }
}
