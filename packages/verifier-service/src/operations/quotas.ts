import { networkLimits } from "@sotto/server";
import type { Config } from "../config/config.ts";
import { ServiceError } from "../errors.ts";
import type { Quota, Store } from "../store/index.ts";
import type { Quotas } from "./budget.ts";

const DAY_MS = 86_400_000;

/** A quota for each network of a client: the larger ones have more. */
function networkQuotas(kind: string, client: string, limit: number): Quota[] {
  return networkLimits(client, limit).map((each) => ({
    key: `${kind}:${each.network}`,
    limit: each.limit,
    window: DAY_MS,
  }));
}

/**
 * Counts a check of proofs for the networks of its client.
 * @throws ServiceError QUOTA_EXCEEDED; details.resetAt is when the next day begins, ms
 */
export async function takeClientQuota(
  store: Pick<Store, "quotas">,
  config: Pick<Quotas, "clientQuota">,
  client: string,
): Promise<void> {
  const exceeded = await store.quotas.takeAll(clientQuotas(config, client));
  if (exceeded !== undefined) throw quotaExceeded(exceeded.quota, exceeded.resetAt);
}

export const clientQuotas = ({ clientQuota }: Pick<Quotas, "clientQuota">, client: string): readonly Quota[] =>
  networkQuotas("client", client, clientQuota);

/**
 * The shielded address that is paid, decimal: x of its encryption key, and its owner tag. Not the wallet: a payer can name
 * any wallet beside a key of its own.
 */
export interface PaidAddress {
  readonly keyX: string;
  readonly ownerTag: string;
}

/**
 * What a payment that is queued counts for: its recipient. What is only verified costs no gas, and must not use up what
 * others may be paid.
 */
export function recipientQuota(
  { recipientQuota: limit }: Pick<Config, "recipientQuota">,
  { keyX, ownerTag }: PaidAddress,
): Quota {
  return { key: `recipient:${keyX}:${ownerTag}`, limit, window: DAY_MS };
}

/**
 * What a deposit or withdrawal that pays no fee counts for: its client, and a deposit also for its depositor, who may
 * come from many network addresses.
 */
export function sponsorQuotas({ sponsorQuota: limit }: Quotas, client: string, depositor?: string): readonly Quota[] {
  const own = depositor === undefined ? [] : [{ key: `depositor:${depositor}`, limit, window: DAY_MS }];
  return [...networkQuotas("sponsor", client, limit), ...own];
}

const COUNTED: Readonly<Record<string, string>> = {
  client: "checked proofs a day for one network",
  recipient: "payments a day to one recipient",
  sponsor: "sponsored deposits and withdrawals a day for one network",
  depositor: "sponsored deposits a day of one account",
};

/** @param resetAt when the next day begins, ms */
export function quotaExceeded({ key, limit }: Quota, resetAt: number): ServiceError {
  const what = COUNTED[key.slice(0, key.indexOf(":"))];
  return new ServiceError("QUOTA_EXCEEDED", `quota exceeded: ${limit} ${what}`, { limit, resetAt });
}
