import type { WireBundle } from "@sotto/protocol";
import type { Config } from "../config/config.ts";
import { ServiceError } from "../errors/errors.ts";
import type { Quota, Store } from "../store/index.ts";
import { RANGE_SIGNAL } from "./bundle.ts";

const DAY_MS = 86_400_000;

/**
 * Counts a verification for its client.
 * @throws ServiceError QUOTA_EXCEEDED; details.resetAt is when the next day begins, ms
 */
export async function takeClientQuota(
  store: Pick<Store, "quotas">,
  config: Pick<Config, "clientQuota">,
  client: string,
): Promise<void> {
  const quota = clientQuota(config, client);
  const { allowed, resetAt } = await store.quotas.take(quota);
  if (!allowed) throw quotaExceeded(quota, resetAt);
}

export const clientQuota = ({ clientQuota: limit }: Pick<Config, "clientQuota">, client: string): Quota => ({
  key: `client:${client}`,
  limit,
  window: DAY_MS,
});

/**
 * What a payment that is queued counts for: its recipient. What is only verified costs no gas, and must not use up what
 * others may be paid.
 */
export function recipientQuota(
  { recipientQuota: limit }: Config,
  { amountPublicSignals }: Pick<WireBundle, "amountPublicSignals">,
): Quota {
  // By the key that is paid: a wallet can be named by anyone, with a key of the payer's own beside it.
  const [keyX, tag] = [amountPublicSignals[RANGE_SIGNAL.recipientKey], amountPublicSignals[RANGE_SIGNAL.recipientTag]];
  return { key: `recipient:${keyX}:${tag}`, limit, window: DAY_MS };
}

/**
 * What a deposit or withdrawal that pays no fee counts for: its client, and a deposit also for its depositor, who may
 * come from many network addresses.
 */
export function sponsorQuotas({ sponsorQuota: limit }: Config, client: string, depositor?: string): readonly Quota[] {
  const keys = [`sponsor:${client}`, ...(depositor === undefined ? [] : [`depositor:${depositor}`])];
  return keys.map((key) => ({ key, limit, window: DAY_MS }));
}

const COUNTED: Readonly<Record<string, string>> = {
  client: "payments a day for one network address",
  recipient: "payments a day to one recipient",
  sponsor: "sponsored deposits and withdrawals a day for one network address",
  depositor: "sponsored deposits a day of one account",
};

/** @param resetAt when the next day begins, ms */
export function quotaExceeded({ key, limit }: Quota, resetAt: number): ServiceError {
  const what = COUNTED[key.slice(0, key.indexOf(":"))];
  return new ServiceError("QUOTA_EXCEEDED", `quota exceeded: ${limit} ${what}`, { limit, resetAt });
}
