import { delay } from "@sotto/chain";
import { assertAmount } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import type { MixOption, NoteChoice } from "./apart.ts";
import { parseCount } from "./connect.ts";
import type { ScanOptions, WalletCore } from "./core.ts";
import { type Payment, pay } from "./pay.ts";
import { type PaymentRequest, parsePaymentRequest } from "./payment-request.ts";
import { merge, renew, type Withdrawal } from "./withdraw.ts";
import type { Fee } from "./withdrawal-terms.ts";

/** Options for merging notes before a payment. */
export interface AutoMerge {
  /** Submits a merge to a relayer or to the chain. */
  submit(merge: Withdrawal): Promise<unknown>;
  /** Fee of the submitter. Default: none. */
  fee?: Fee;
  /** Maximum milliseconds until a merged note is spendable. Default: 600,000. */
  timeout?: number;
  /** Milliseconds between two scans. Default: 3,000. */
  interval?: number;
}

/** Options of a payment. */
export interface PayOptions extends ScanOptions, NoteChoice, MixOption {
  /**
   * Merges notes first in two cases: no single note is large enough (default: MERGE_REQUIRED), or every sufficient note
   * was shown to another recipient or service by an unsettled payment (default: it pays from such a note).
   */
  merge?: AutoMerge | undefined;
}

/**
 * Makes a payment after as many merges as it needs. A merge joins up to eight notes, and must be settled and appended
 * before its note can be spent.
 * @throws WalletError TIMED_OUT and the errors of `pay` and `merge`
 */
export async function payMerging(
  core: WalletCore,
  request: PaymentRequest,
  auto: AutoMerge,
  { mix, ...options }: Omit<PayOptions, "merge">,
): Promise<Payment> {
  const { amount } = parsePaymentRequest(request);
  if (typeof auto?.submit !== "function") throw new WalletError("INVALID_OPTION", "merge.submit must be a function");
  const timeout = parseCount(auto.timeout ?? 600_000, "merge.timeout", 0);
  const interval = parseCount(auto.interval ?? 3_000, "merge.interval", 1);
  const scanning = { onProgress: options.onProgress, signal: options.signal };
  const fee = auto.fee ? { fee: auto.fee } : {};
  const mergeFee = assertAmount(auto.fee?.amount ?? 0n, "merge.fee.amount");
  for (;;) {
    let shown: unknown;
    try {
      return await pay(core, request, { ...options, mix, mergeFee });
    } catch (error) {
      if (!(error instanceof WalletError) || error.code !== "MERGE_REQUIRED") throw error;
      shown = error.details["shown"];
    }
    const merged =
      typeof shown === "number"
        ? await renew(core, shown, fee, scanning)
        : await merge(core, { target: amount, mix, ...fee }, { ...scanning, only: options.only });
    const submitted = auto.submit(merged);
    await (typeof shown === "number" ? submitted.catch(notRenewed(shown)) : submitted);
    await untilSpendable(core, merged, timeout, interval, options.signal);
  }
}

/** A service that refuses merges only delays the payment until the note is released. */
const notRenewed = (leafIndex: number) => (cause: unknown) => {
  const message = `the merge of note ${leafIndex} failed; after that merge expires, the payment spends the note without a merge`;
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
    await core.lock.run(() => core.scan({ signal }), signal);
    const spent = new Set(merged.notes);
    const spend = [...core.sync.ledger.spends.values()].find(({ leafIndex }) => spent.has(leafIndex));
    if (spend !== undefined && spend.digest !== merged.digest)
      throw new WalletError("PAYMENT_CLOSED", `the notes of merge ${merged.id} were spent in ${spend.transactionHash}`);
    const output = core
      .notes()
      .find(({ origin, transactionHash }) => origin === "output" && transactionHash === spend?.transactionHash);
    if (output?.state === "spendable") return;
    if (Date.now() > end)
      throw new WalletError(
        "TIMED_OUT",
        `the note of merge ${merged.id} is not spendable after ${timeout} ms; try again later`,
      );
    await delay(interval, signal);
  }
}
