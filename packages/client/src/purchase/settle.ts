import { signalsDigest } from "@sotto/protocol";
import { ServiceError } from "../service/errors.ts";
import { wait } from "../wait.ts";
import type { PaymentStatus } from "../wallet/state.ts";
import { type Context, store, tell, withSignal } from "./context.ts";
import { PurchaseError } from "./errors.ts";
import { firstPayment, nextPayment, otherPayment, type Proved } from "./prove.ts";
import type { SentAttempt } from "./record.ts";
import { checkToken } from "./token.ts";
import { closeIfUnpaid } from "./unpaid.ts";

const CHAIN_TIMEOUT_MS = 30_000;
const LOOK_MS = 300;
/** A proof with less time than this is not handed in any more: the service would find it too late. */
const MIN_TIME_MS = 45_000;
const BEHIND_MS = 1_000;
/** Attempts in one call. Each is of the same note, or of another where the one before can never settle. */
const MOST_ROUNDS = 8;

/**
 * Settles the payment of a purchase, from wherever the purchase stands. If that fails before a proof left the process, the
 * purchase is closed.
 */
export function settlePurchase(context: Context): Promise<void> {
  return closeIfUnpaid(context, () => settle(context));
}

async function settle(context: Context): Promise<void> {
  context.options.signal?.throwIfAborted();
  /** Digests of attempts that the service has done with. */
  const over = new Set<string>();
  for (let round = 0; context.record.settled === null; round += 1) {
    if (round >= MOST_ROUNDS) throw unknown(context);
    const attempt = await attemptToSend(context, over);
    if (attempt !== undefined) await hand(context, attempt, over);
  }
}

const statusOf = ({ wallet, record }: Context): PaymentStatus | undefined => {
  const id = record.payments.at(-1)!;
  return wallet.has(id) ? wallet.status(id) : undefined;
};

/** Notes what the chain has, if it is one of this purchase's attempts. @param final whether it must be confirmed */
async function takeSettled(context: Context, final: boolean): Promise<boolean> {
  const status = statusOf(context);
  if (status?.state !== "settled" || status.transactionHash === undefined || status.digest === undefined) return false;
  if (final && !status.final) return false;
  await store(context, { settled: { digest: status.digest, txSignature: status.transactionHash } });
  return true;
}

/** Looks at the chain until it has the payment, or whoever else spent its note, or the time is over. */
async function lookForIt(context: Context, final: boolean): Promise<boolean> {
  const { wallet, options } = context;
  tell(context, "confirming");
  const end = Date.now() + (options.chainTimeoutMs ?? CHAIN_TIMEOUT_MS);
  for (;;) {
    await wallet.scan(withSignal(options));
    if (await takeSettled(context, final)) return true;
    const status = statusOf(context);
    if (status === undefined || (status.state !== "settled" && status.final) || Date.now() > end) return false;
    await wait(LOOK_MS, options.signal);
  }
}

/** The attempt to hand in now. Undefined: what was handed in before is on chain. */
async function attemptToSend(context: Context, over: ReadonlySet<string>): Promise<SentAttempt | undefined> {
  const { wallet, record, options } = context;
  if (statusOf(context) === undefined) return sending(context, await firstPayment(context));
  await wallet.scan(withSignal(options));
  const id = record.payments.at(-1)!;
  const { state, final, validUntil } = wallet.status(id);
  if (state === "settled") {
    if (await lookForIt(context, true)) return undefined;
    throw unknown(context);
  }
  if (state === "failed") {
    if (!final) throw unknown(context);
    return sending(context, await otherPayment(context));
  }
  const last = record.sent.findLast(({ payment }) => payment === id);
  const mayGoOn = (digest: string) => state === "open" && !over.has(digest);
  // Asked for once more, whatever its date, before another attempt is made: it may be on its way.
  if (last !== undefined && last.token !== "" && mayGoOn(last.digest)) return last;
  const proof = wallet.proofOf(id);
  const bundle = proof !== undefined && "bundle" in proof ? proof.bundle : undefined;
  const timely = validUntil * 1000 - wallet.now() >= MIN_TIME_MS;
  if (bundle !== undefined && timely) {
    const digest = signalsDigest(bundle.publicSignals.map(BigInt));
    if (mayGoOn(digest)) return sending(context, { bundle, digest });
  }
  return sending(context, await nextPayment(context));
}

/** Journals an attempt before anybody else sees it: from then on it can be found on chain and shown. */
async function sending(context: Context, { bundle, digest }: Proved): Promise<SentAttempt> {
  context.options.signal?.throwIfAborted();
  const known = context.record.sent.find((attempt) => attempt.digest === digest);
  if (known !== undefined) return known;
  const payment = context.record.payments.at(-1)!;
  const attempt: SentAttempt = { payment, bundle, digest, token: "" };
  await store(context, { sent: [...context.record.sent, attempt] });
  return attempt;
}

async function hand(context: Context, attempt: SentAttempt, over: Set<string>): Promise<void> {
  const { service, options } = context;
  try {
    const token = attempt.token === "" ? await verifiedToken(context, attempt) : attempt.token;
    tell(context, "settling");
    const { txSignature } = await service.settle(attempt.bundle, token, withSignal(options));
    await confirm(context, txSignature);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    await afterRefusal(context, attempt.digest, error, over);
  }
}

export async function verifiedToken(
  context: Context,
  attempt: Pick<SentAttempt, "bundle" | "digest">,
): Promise<string> {
  const { service, wallet, record, options } = context;
  tell(context, "verifying");
  const { paymentToken } = await service.verify(attempt.bundle, withSignal(options));
  checkToken(paymentToken, attempt, record.recipient.shieldedAddress, wallet.pool);
  const sent = record.sent.map((each) => (each.digest === attempt.digest ? { ...each, token: paymentToken } : each));
  await store(context, { sent });
  return paymentToken;
}

/** The service's word is no proof: the chain must have the payment, found by nullifier and digest. */
async function confirm(context: Context, claimed: string): Promise<void> {
  if (await lookForIt(context, false)) return;
  const { record, wallet } = context;
  const { validUntil } = wallet.status(record.payments.at(-1)!);
  throw new PurchaseError(
    "SETTLEMENT_NOT_FOUND",
    "the service says that the payment was settled, and the chain does not have it: call again",
    { id: record.id, validUntil, txSignature: claimed },
  );
}

/** The attempt is over; another one of the same note is the way on. */
const OVER = new Set([
  "EXPIRED",
  "TOKEN_EXPIRED",
  "TOKEN_REPLACED",
  "INVALID_TOKEN",
  "TIMESTAMP_TOO_OLD",
  "TOO_LATE_TO_SETTLE",
]);
/** The note is on its way to the chain, or there: the chain says by which attempt. */
const ON_ITS_WAY = new Set(["NULLIFIER_QUEUED", "NULLIFIER_SPENT"]);
/** The service's node is behind the wallet's: the same proof is good in a moment. */
const BEHIND = "UNKNOWN_ROOT";

async function afterRefusal(context: Context, digest: string, error: ServiceError, over: Set<string>): Promise<void> {
  const { wallet, options } = context;
  const answered = ["PAYMENT_INVALID", "NOT_SETTLED", "SERVICE_REFUSED"].includes(error.code);
  const reason = answered ? String(error.details["reason"]) : "";
  if (ON_ITS_WAY.has(reason)) {
    if ((await lookForIt(context, true)) || statusOf(context)?.final) return;
    throw unknown(context, error);
  }
  await wallet.scan(withSignal(options));
  if (await takeSettled(context, true)) return;
  if (OVER.has(reason)) {
    over.add(digest);
    return;
  }
  if (reason === BEHIND) return wait(BEHIND_MS, options.signal);
  // What was never given a token was not handed in to be settled: the service's own words say most.
  const sent = context.record.sent.find((each) => each.digest === digest);
  throw sent?.token === "" ? error : unknown(context, error);
}

function unknown({ record, wallet }: Context, cause?: unknown): PurchaseError {
  const { validUntil } = wallet.status(record.payments.at(-1)!);
  return new PurchaseError(
    "SETTLEMENT_UNKNOWN",
    "whether the payment was settled is not known yet: call again, it goes on and pays once",
    { id: record.id, validUntil },
    { cause },
  );
}
