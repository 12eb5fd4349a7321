import type { WireBundle } from "@sotto/protocol";
import type { Config } from "../config/config.ts";
import { ServiceError } from "../errors/errors.ts";
import type { Store } from "../store/index.ts";
import { RANGE_SIGNAL } from "./bundle.ts";

const DAY_MS = 86_400_000;

/**
 * Counts a verification for its client.
 * @throws ServiceError QUOTA_EXCEEDED; details.resetAt is when the next day begins, ms
 */
export async function takeClientQuota(
  store: Pick<Store, "quotas">,
  { clientQuota }: Config,
  client: string,
): Promise<void> {
  await take(store, `client:${client}`, clientQuota, "payments of your network address");
}

/**
 * Counts a payment that is about to be queued for its recipient: what is only verified costs no gas, and must not use up
 * what others may be paid.
 * @throws ServiceError QUOTA_EXCEEDED
 */
export async function takeRecipientQuota(
  store: Pick<Store, "quotas">,
  { recipientQuota }: Config,
  { amountPublicSignals }: Pick<WireBundle, "amountPublicSignals">,
): Promise<void> {
  // By the key that is paid: a wallet can be named by anyone, with a key of the payer's own beside it.
  const [keyX, tag] = [amountPublicSignals[RANGE_SIGNAL.recipientKey], amountPublicSignals[RANGE_SIGNAL.recipientTag]];
  await take(store, `recipient:${keyX}:${tag}`, recipientQuota, "payments to this recipient");
}

/** Counts a deposit or withdrawal that pays no fee. */
export async function takeSponsorship(
  store: Pick<Store, "quotas">,
  { sponsorQuota }: Config,
  client: string,
): Promise<void> {
  await take(store, `sponsor:${client}`, sponsorQuota, "sponsored deposits and withdrawals of your network address");
}

async function take(store: Pick<Store, "quotas">, key: string, limit: number, what: string): Promise<void> {
  const { allowed, resetAt } = await store.quotas.take({ key, limit, window: DAY_MS });
  if (!allowed)
    throw new ServiceError("QUOTA_EXCEEDED", `no more ${what} today: the quota is ${limit}`, { limit, resetAt });
}
