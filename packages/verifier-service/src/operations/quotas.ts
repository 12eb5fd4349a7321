import { networkLimits, type Quota } from "@sotto/server";
import type { Config } from "../config/config.ts";
import { ServiceError } from "../errors.ts";
import { depositGas, SPONSORED_GAS } from "../relayer/gas.ts";
import type { Store } from "../store/index.ts";
import type { Quotas } from "./budget.ts";

const DAY_MS = 86_400_000;

/** One quota for each network of a client; larger networks have larger quotas. */
export function networkQuotas(kind: string, client: string, limit: number): Quota[] {
  return networkLimits(client, limit).map((each) => ({
    key: `${kind}:${each.network}`,
    limit: each.limit,
    window: DAY_MS,
  }));
}

/**
 * Counts a verification of proofs for the networks of the client.
 * @throws ServiceError QUOTA_EXCEEDED; details.resetAt is the start of the next day, ms
 */
export async function takeClientQuota(
  store: Pick<Store, "quotas">,
  config: Pick<Quotas, "clientQuota">,
  client: string,
): Promise<void> {
  const exceeded = await store.quotas.takeAll(clientQuotas(config, client));
  if (exceeded !== undefined) throw quotaExceeded(exceeded.quota, exceeded.resetAt);
}

/**
 * Counts a check of a contract account's signature for the networks of the client: anyone can send signatures, and each check
 * lets a node run the account's code.
 * @throws ServiceError QUOTA_EXCEEDED
 */
export async function takeSignatureQuota(
  store: Pick<Store, "quotas">,
  { clientQuota }: Pick<Quotas, "clientQuota">,
  client: string,
): Promise<void> {
  const exceeded = await store.quotas.takeAll(networkQuotas("signature", client, clientQuota));
  if (exceeded !== undefined) throw quotaExceeded(exceeded.quota, exceeded.resetAt);
}

export const clientQuotas = ({ clientQuota }: Pick<Quotas, "clientQuota">, client: string): readonly Quota[] =>
  networkQuotas("client", client, clientQuota);

/**
 * The quota that a queued payment counts for: that of the owner that is paid. A payer can name any wallet and key, so they do
 * not count. Payments that are only verified cost no gas and do not count either, so that nobody can exhaust an owner's quota
 * with them.
 * @param ownerTag decimal
 */
export function recipientQuota({ recipientQuota: limit }: Pick<Config, "recipientQuota">, ownerTag: string): Quota {
  return { key: `recipient:${ownerTag}`, limit, window: DAY_MS };
}

/**
 * The quotas of a deposit, and of a withdrawal without a fee: those of its client and, for a deposit, of its depositor, because
 * one depositor may use many network addresses. One use pays for SPONSORED_GAS, and a deposit of many notes may need more.
 */
export function sponsorQuotas(
  { sponsorQuota: limit }: Quotas,
  client: string,
  deposit?: { readonly depositor: string; readonly notes: number },
): readonly Quota[] {
  const quotas = networkQuotas("sponsor", client, limit);
  if (deposit === undefined) return quotas;
  const uses = Number((depositGas(deposit.notes) + SPONSORED_GAS - 1n) / SPONSORED_GAS);
  return [...quotas, { key: `depositor:${deposit.depositor}`, limit, window: DAY_MS }].map((quota) => ({
    ...quota,
    uses,
  }));
}

const COUNTED: Readonly<Record<string, string>> = {
  client: "checked proofs a day for one network",
  signature: "checked signatures of contract accounts a day for one network",
  recipient: "payments a day to one recipient",
  sponsor: "sponsored deposits and withdrawals a day for one network",
  depositor: "sponsored deposits a day of one account",
};

const countedBy = (key: string): string | undefined => COUNTED[key.slice(0, key.indexOf(":"))];

/**
 * @param resetAt start of the next day, ms
 * @param what is counted, for the message; default: by the kind of the quota
 */
export function quotaExceeded({ key, limit }: Quota, resetAt: number, what = countedBy(key)): ServiceError {
  return new ServiceError("QUOTA_EXCEEDED", `quota exceeded: ${limit} ${what}`, { limit, resetAt });
}
