// The steps between a proof and its settlement, and what a refusal of the service means.
import { delay } from "@sotto/chain";
import { PAYMENT_SIGNAL } from "@sotto/protocol";
import { ServiceClientError } from "@sotto/wallet";
import { attach, attachedFields } from "./attach.ts";
import { type Context, store, tell } from "./context.ts";
import { PurchaseError } from "./errors.ts";
import { awaitOnChain, recordSettled, statusOf, unknownError } from "./read-chain.ts";
import type { SentAttempt } from "./record.ts";
import type { Run } from "./run-state.ts";
import { type Attempt, attemptOf } from "./states.ts";
import { assertToken } from "./token.ts";

const BEHIND_MS = 1_000;
/**
 * Maximum attempts in one call. Each spends the same note, or another one if the previous attempts can never settle.
 */
const MAX_ATTEMPTS = 8;

const attemptOfRun = ({ context, ended }: Run): Attempt => attemptOf(context.record, context.wallet, ended)!;

/**
 * Records an attempt before it leaves the process, so that after a crash it can be found on chain and its proof can be
 * sent.
 */
export async function recordSent(run: Run): Promise<void> {
  const { context } = run;
  context.options.signal?.throwIfAborted();
  const { bundle, digest } = attemptOfRun(run);
  const payment = context.record.payments.at(-1)!;
  const nullifier = BigInt(bundle.publicSignals[PAYMENT_SIGNAL.nullifier]!);
  const { wallet, record, options } = context;
  const hasLeft = record.sent.some((sent) => sent.payment === payment);
  const showing = { id: payment, nullifier, hasLeft, signal: options.signal };
  const attachments = record.attachments && (await attach(wallet, options.attachments, record.attachments, showing));
  const attempt: SentAttempt = { payment, bundle, digest, token: "" };
  await store(context, { sent: [...context.record.sent, attempt], ...(attachments && { attachments }) });
}

/** Has the service verify the proof, and stores its token. */
export function verify(run: Run): Promise<void> {
  const attempt = attemptOfRun(run);
  return unlessRefused(run, attempt, async () => void (await storeToken(run.context, attempt)));
}

/** Has the service settle the payment, and finds it on the chain. */
export function settle(run: Run): Promise<void> {
  const { context } = run;
  const { service, options } = context;
  const attempt = attemptOfRun(run);
  return unlessRefused(run, attempt, async () => {
    tell(context, "settling");
    const { txSignature } = await service.settle(attempt.bundle, attempt.token!, { signal: options.signal });
    await confirm(context, txSignature);
  });
}

/** Gets the service's token for an attempt, and stores it. */
export async function storeToken(context: Context, attempt: Pick<SentAttempt, "bundle" | "digest">): Promise<string> {
  const { service, wallet, record, options } = context;
  tell(context, "verifying");
  const sentAs = record.sent.find(({ digest }) => digest === attempt.digest);
  const fields = sentAs && attachedFields(record.attachments, sentAs.payment);
  const { paymentToken } = await service.verify(attempt.bundle, { signal: options.signal, fields });
  assertToken(paymentToken, attempt.bundle, wallet.pool);
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

/** Takes a step with an attempt. A refusal that another attempt or the chain may resolve is not an error. */
async function unlessRefused(run: Run, { digest }: Attempt, step: () => Promise<void>): Promise<void> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof ServiceClientError)) throw error;
    await afterRefusal(run, digest, error);
  }
  run.stale = true;
  run.refusals += 1;
  if (run.context.record.settled === null && run.refusals >= MAX_ATTEMPTS) throw unknownError(run.context);
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

async function afterRefusal({ context, ended }: Run, digest: string, error: ServiceClientError): Promise<void> {
  const { wallet, options } = context;
  const answered = ["PAYMENT_INVALID", "NOT_SETTLED", "SERVICE_REFUSED"].includes(error.code);
  const reason = answered ? String(error.details["reason"]) : "";
  if (SPENT.has(reason)) {
    if ((await awaitOnChain(context, true)) || statusOf(context)?.final) return;
    throw unknownError(context, error);
  }
  await wallet.scan({ signal: options.signal });
  if (await recordSettled(context, true)) return;
  if (ENDS_ATTEMPT.has(reason)) {
    ended.add(digest);
    return;
  }
  if (reason === BEHIND) return delay(BEHIND_MS, options.signal);
  // Without a token, the attempt was never submitted, so the service's error is the reason.
  const sent = context.record.sent.find((each) => each.digest === digest);
  throw sent?.token === "" ? error : unknownError(context, error);
}
