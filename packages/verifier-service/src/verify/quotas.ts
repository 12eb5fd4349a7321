import type { Config } from "../config/config.ts";
import { ServiceError } from "../errors/errors.ts";
import type { Store } from "../store/index.ts";

const DAY_MS = 86_400_000;

/**
 * Counts a payment for its client and its recipient.
 * @param recipient names the shielded address
 * @throws ServiceError QUOTA_EXCEEDED; details.resetAt is when the next day begins, ms
 */
export async function takeQuotas(
  store: Pick<Store, "quotas">,
  { clientQuota, recipientQuota }: Config,
  client: string,
  recipient: string,
): Promise<void> {
  await take(store, `client:${client}`, clientQuota, "payments of your network address");
  await take(store, `recipient:${recipient}`, recipientQuota, "payments to this recipient");
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
