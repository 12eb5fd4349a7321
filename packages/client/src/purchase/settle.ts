import { delay } from "@sotto/chain";
import { MAX_CLOCK_SKEW_MS, signalsDigest } from "@sotto/protocol";
import { ServiceClientError } from "../service/errors.ts";
import type { PaymentStatus } from "../wallet/state.ts";
import { type Context, store, tell } from "./context.ts";
import { PurchaseError } from "./errors.ts";
import { firstPayment, nextPayment, otherPayment, type Proved } from "./prove.ts";
import type { SentAttempt } from "./record.ts";
import { checkToken } from "./token.ts";
import { closeIfUnpaid } from "./unpaid.ts";

const CHAIN_TIMEOUT_MS = 30_000;
const LOOK_MS = 300;
/** A proof with less remaining validity, ms, is not submitted, because the service would refuse it as too late. */
const MIN_TIME_MS = 45_000;
const BEHIND_MS = 1_000;
/**
 * Maximum attempts in one call. Each spends the same note, or another one if the previous attempts can never settle.
 */
const MAX_ROUNDS = 8;

/**
 * Settles the payment of a purchase from its recorded state. If that fails before a proof left the process, the
 * purchase is closed.
 */
export function settlePurchase(context: Context): Promise<void> {
  return closeIfUnpaid(context, () => settle(context));
}

async function settle(context: Context): Promise<void> {
  context.options.signal?.throwIfAborted();
  /** Digests of attempts that the service will not settle any more. */
  const dead = new Set<string>();
  for (let round = 0; context.record.settled === null; round += 1) {
    if (round >= MAX_ROUNDS) throw unknown(context);
    const attempt = await attemptToSend(context, dead);
    if (attempt !== undefined) await submit(context, attempt, dead);
  }
}

const statusOf = ({ wallet, record }: Context): PaymentStatus | undefined => {
  const id = record.payments.at(-1)!;
  return wallet.has(id) ? wallet.status(id) : undefined;
};

/**
 * Records the settled attempt, if the chain has an attempt of this purchase.
 * @param final whether it must be confirmed
 */
async function recordSettled(context: Context, final: boolean): Promise<boolean> {
  const status = statusOf(context);
  if (status?.state !== "settled" || status.transactionHash === undefined || status.digest === undefined) return false;
  if (final && !status.final) return false;
  await store(context, { settled: { digest: status.digest, txSignature: status.transactionHash } });
  return true;
}

/** Scans until the chain has the payment, another spend of its note is final, or the time limit is reached. */
async function awaitOnChain(context: Context, final: boolean): Promise<boolean> {
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

/** The attempt to submit now; undefined if an earlier one is on chain. */
async function attemptToSend(context: Context, dead: ReadonlySet<string>): Promise<SentAttempt | undefined> {
  const { wallet, record, options } = context;
  if (statusOf(context) === undefined) return journaled(context, await firstPayment(context));
  await wallet.scan({ signal: options.signal });
  const id = record.payments.at(-1)!;
  const { state, final, validUntil } = wallet.status(id);
  if (state === "settled") {
    if (await awaitOnChain(context, true)) return undefined;
    throw unknown(context);
  }
  if (state === "failed") {
    if (!final) throw unknown(context);
    return journaled(context, await otherPayment(context));
  }
  const last = record.sent.findLast(({ payment }) => payment === id);
  const isAlive = (digest: string) => state === "open" && !dead.has(digest);
  // Submit the last attempt again, even after its deadline, before making another one: its transaction may be pending.
  if (last !== undefined && last.token !== "" && isAlive(last.digest)) return last;
  const proof = wallet.proofOf(id);
  const bundle = proof !== undefined && "bundle" in proof ? proof.bundle : undefined;
  const timely =
    validUntil * 1000 - wallet.now() >= MIN_TIME_MS &&
    // A proof from a clock that was ahead is refused until its time comes; the next attempt spends the same note.
    (bundle?.timestamp ?? 0) <= wallet.now() + MAX_CLOCK_SKEW_MS;
  if (bundle !== undefined && timely) {
    const digest = signalsDigest(bundle.publicSignals.map(BigInt));
    if (isAlive(digest)) return journaled(context, { bundle, digest });
  }
  return journaled(context, await nextPayment(context));
}

/**
 * Journals an attempt before it leaves the process, so that after a crash it can be found on chain and its proof can be
 * sent.
 */
async function journaled(context: Context, { bundle, digest }: Proved): Promise<SentAttempt> {
  context.options.signal?.throwIfAborted();
  const known = context.record.sent.find((attempt) => attempt.digest === digest);
  if (known !== undefined) return known;
  const payment = context.record.payments.at(-1)!;
  const attempt: SentAttempt = { payment, bundle, digest, token: "" };
  await store(context, { sent: [...context.record.sent, attempt] });
  return attempt;
}

async function submit(context: Context, attempt: SentAttempt, dead: Set<string>): Promise<void> {
  const { service, options } = context;
  try {
    const token = attempt.token === "" ? await verifiedToken(context, attempt) : attempt.token;
    tell(context, "settling");
    const { txSignature } = await service.settle(attempt.bundle, token, { signal: options.signal });
    await confirm(context, txSignature);
  } catch (error) {
    if (!(error instanceof ServiceClientError)) throw error;
    await afterRefusal(context, attempt.digest, error, dead);
  }
}

export async function verifiedToken(
  context: Context,
  attempt: Pick<SentAttempt, "bundle" | "digest">,
): Promise<string> {
  const { service, wallet, record, options } = context;
  tell(context, "verifying");
  const { paymentToken } = await service.verify(attempt.bundle, { signal: options.signal });
  checkToken(paymentToken, attempt.bundle, wallet.pool);
  const sent = record.sent.map((each) => (each.digest === attempt.digest ? { ...each, token: paymentToken } : each));
  await store(context, { sent });
  return paymentToken;
}

/** Does not trust the service's response: the chain must have the payment, found by nullifier and digest. */
async function confirm(context: Context, claimed: string): Promise<void> {
  if (await awaitOnChain(context, false)) return;
  const { record, wallet } = context;
  const { validUntil } = wallet.status(record.payments.at(-1)!);
  throw new PurchaseError(
    "SETTLEMENT_NOT_FOUND",
    "the service says that the payment was settled, but the chain does not have it; repeat the same request",
    { id: record.id, validUntil, txSignature: claimed },
  );
}

/** Reasons that end an attempt; the next attempt spends the same note. */
const ENDS_ATTEMPT = new Set([
  "EXPIRED",
  "TOKEN_EXPIRED",
  "TOKEN_REPLACED",
  "INVALID_TOKEN",
  "TIMESTAMP_TOO_OLD",
  "TOO_LATE_TO_SETTLE",
]);
/** The note is spent or about to be spent; the chain shows by which attempt. */
const SPENT = new Set(["NULLIFIER_QUEUED", "NULLIFIER_SPENT"]);
/** The service's node lags behind the wallet's; the same proof is accepted a moment later. */
const BEHIND = "UNKNOWN_ROOT";

async function afterRefusal(
  context: Context,
  digest: string,
  error: ServiceClientError,
  dead: Set<string>,
): Promise<void> {
  const { wallet, options } = context;
  const answered = ["PAYMENT_INVALID", "NOT_SETTLED", "SERVICE_REFUSED"].includes(error.code);
  const reason = answered ? String(error.details["reason"]) : "";
  if (SPENT.has(reason)) {
    if ((await awaitOnChain(context, true)) || statusOf(context)?.final) return;
    throw unknown(context, error);
  }
  await wallet.scan({ signal: options.signal });
  if (await recordSettled(context, true)) return;
  if (ENDS_ATTEMPT.has(reason)) {
    dead.add(digest);
    return;
  }
  if (reason === BEHIND) return delay(BEHIND_MS, options.signal);
  // Without a token, the attempt was never submitted, so the service's error is the reason.
  const sent = context.record.sent.find((each) => each.digest === digest);
  throw sent?.token === "" ? error : unknown(context, error);
}

function unknown({ record, wallet }: Context, cause?: unknown): PurchaseError {
  const { validUntil } = wallet.status(record.payments.at(-1)!);
  return new PurchaseError(
    "SETTLEMENT_UNKNOWN",
    "it is not known yet whether the payment settled; repeat the same request, which never pays twice",
    { id: record.id, validUntil },
    { cause },
  );
}
