// What the chain shows of a purchase. The service's word is never relied on.
import { delay } from "@sotto/chain";
import { MAX_CLOCK_SKEW_MS } from "@sotto/protocol";
import type { PaymentStatus } from "@sotto/wallet";
import { type Context, store, tell } from "./context.ts";
import { PurchaseError } from "./errors.ts";
import { replacePayment } from "./prove.ts";
import type { Run } from "./run-state.ts";
import { type Attempt, attemptOf } from "./states.ts";

const CHAIN_TIMEOUT_MS = 30_000;
const LOOK_MS = 300;
/** A proof with less remaining validity, ms, is not submitted, because the service would refuse it as too late. */
const MIN_TIME_MS = 45_000;

/** The status of the payment that counts, as of the last scan; undefined before the wallet has it. */
export function statusOf({ wallet, record }: Context): PaymentStatus | undefined {
  const id = record.payments.at(-1)!;
  return wallet.has(id) ? wallet.status(id) : undefined;
}

/**
 * Records the settled attempt, if the chain has an attempt of this purchase.
 * @param final whether only a settlement with all its confirmations counts
 */
export async function recordSettled(context: Context, final: boolean): Promise<boolean> {
  const status = statusOf(context);
  if (status?.state !== "settled" || status.transactionHash === undefined || status.digest === undefined) return false;
  if (final && !status.final) return false;
  await store(context, { settled: { digest: status.digest, txSignature: status.transactionHash } });
  return true;
}

/** Scans until the chain has the payment, another spend of its note is final, or the time limit is reached. */
export async function awaitOnChain(context: Context, final: boolean): Promise<boolean> {
  const { wallet, options } = context;
  tell(context, "confirming");
  const end = Date.now() + (options.chainTimeoutMs ?? CHAIN_TIMEOUT_MS);
  for (;;) {
    await wallet.scan({ signal: options.signal });
    if (await recordSettled(context, final)) return true;
    const status = statusOf(context);
    if (status === undefined || (status.state !== "settled" && status.final) || Date.now() > end) return false;
    await delay(LOOK_MS, options.signal);
  }
}

/**
 * Reads the chain after a restart or a refusal, and records what it shows: the payment settled, or another payment spent
 * its note. Ends the attempts that can no longer be used.
 * @throws PurchaseError SETTLEMENT_UNKNOWN while either may still change
 */
export async function readChain(run: Run): Promise<void> {
  const { context, ended } = run;
  const { wallet, options } = context;
  await wallet.scan({ signal: options.signal });
  run.stale = false;
  const { state, final, validUntil } = wallet.status(context.record.payments.at(-1)!);
  if (state === "settled") {
    if (await awaitOnChain(context, true)) return;
    throw unknownError(context);
  }
  if (state === "failed") {
    if (!final) throw unknownError(context);
    return replacePayment(context);
  }
  const isTimely = ({ bundle }: Attempt) =>
    validUntil * 1000 - wallet.now() >= MIN_TIME_MS &&
    // A proof from a clock that was ahead is refused until its time comes; the next attempt spends the same note.
    bundle.timestamp <= wallet.now() + MAX_CLOCK_SKEW_MS;
  // An attempt with a token is settled again even after its deadline: its transaction may be pending.
  const isUsable = (attempt: Attempt) => state === "open" && (Boolean(attempt.token) || isTimely(attempt));
  for (;;) {
    const attempt = attemptOf(context.record, wallet, ended);
    if (attempt === undefined || isUsable(attempt)) return;
    ended.add(attempt.digest);
  }
}

export function unknownError({ record, wallet }: Context, cause?: unknown): PurchaseError {
  const { validUntil } = wallet.status(record.payments.at(-1)!);
  return new PurchaseError(
    "SETTLEMENT_UNKNOWN",
    "it is not known yet whether the payment settled; repeat the same request, which never pays twice",
    { id: record.id, validUntil },
    { cause },
  );
}
