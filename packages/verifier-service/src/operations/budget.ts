// A payer can pay itself again and again and lose nothing, while the relayer pays the gas. All clients share the day's
// budget, so quotas limit how much of it one client can make the relayer spend.
import { NETWORK_GROWTH, type ServiceLog } from "@sotto/server";
import type { Config } from "../config/config.ts";
import { ServiceError } from "../errors.ts";
import type { FeeMarket } from "../relayer/fee-market.ts";
import { PAYMENT_GAS, SPONSORED_GAS } from "../relayer/gas.ts";

/** Uses per network and day. */
export interface Quotas {
  readonly clientQuota: number;
  readonly sponsorQuota: number;
}

/** Cost of one transaction's gas and data at the current price, wei. */
export interface Price {
  readonly payment: bigint;
  readonly sponsored: bigint;
}

/** The cost of a transaction at the current usual gas price. */
export async function presentPrice(market: Pick<FeeMarket, "usualPrice" | "sampleCost">): Promise<Price> {
  const { baseFee, tip } = await market.usualPrice();
  const data = await market.sampleCost();
  const cost = (gas: bigint) => (gas + data.gas) * (baseFee + tip) + data.fee;
  return { payment: cost(PAYMENT_GAS), sponsored: cost(SPONSORED_GAS) };
}

/** Quotas on a local chain, and the maximum that is derived from a budget. */
export const MAX_QUOTAS: Quotas = { clientQuota: 10_000, sponsorQuota: 100 };
/** One client's payments may cost this part of a day's budget; its sponsored operations may cost as much again. */
const PARTS = 8n;
/** The service warns if one client's quotas together may cost more than this part of the budget. */
const WARN_PARTS = 4n;
/** One customer may have the largest IPv6 network that is counted. */
const GROWTH = BigInt(NETWORK_GROWTH.at(-1)!);

type Settings = Pick<Config, "clientQuota" | "sponsorQuota" | "gasBudget" | "quotasBeyondBudget">;

/** The configured quotas, or what the day's budget allows one client at this price. */
export function quotasFor({ clientQuota, sponsorQuota, gasBudget }: Settings, price: Price): Quotas {
  const derived = (cost: bigint, most: number) => {
    if (cost === 0n) return most;
    const uses = gasBudget / PARTS / GROWTH / cost;
    return uses < 1n ? 1 : Number(uses < BigInt(most) ? uses : BigInt(most));
  };
  return {
    clientQuota: clientQuota ?? derived(price.payment, MAX_QUOTAS.clientQuota),
    sponsorQuota: sponsorQuota ?? derived(price.sponsored, MAX_QUOTAS.sponsorQuota),
  };
}

/** Wei that one client can make the relayer spend per day. */
export const costOf = ({ clientQuota, sponsorQuota }: Quotas, { payment, sponsored }: Price): bigint =>
  GROWTH * (BigInt(clientQuota) * payment + BigInt(sponsorQuota) * sponsored);

/**
 * The quotas of a starting service. On a local chain gas is free.
 * @throws ServiceError QUOTAS_BEYOND_BUDGET if one client alone could exhaust the day's budget and no setting allows that
 */
export function startingQuotas(config: Settings & Pick<Config, "local">, price: Price, log: ServiceLog): Quotas {
  if (config.local) return quotasFor(config, { payment: 0n, sponsored: 0n });
  const { gasBudget, quotasBeyondBudget } = config;
  const quotas = quotasFor(config, price);
  const cost = costOf(quotas, price);
  log.info({ ...quotas, wei: String(cost) }, "quotas of one client per day, and their maximum cost");
  if (cost <= gasBudget / WARN_PARTS) return quotas;
  const fit = quotasFor({ ...config, clientQuota: undefined, sponsorQuota: undefined }, price);
  const message = `with SOTTO_CLIENT_QUOTA ${quotas.clientQuota} and SOTTO_SPONSOR_QUOTA ${quotas.sponsorQuota} one client can cost ${cost} wei a day, but SOTTO_GAS_BUDGET is ${gasBudget} wei: set the quotas to at most ${fit.clientQuota} and ${fit.sponsorQuota}, or the budget to ${cost * WARN_PARTS}`;
  if (cost > gasBudget && quotasBeyondBudget === "refuse")
    throw new ServiceError("QUOTAS_BEYOND_BUDGET", `${message}, or SOTTO_QUOTAS_BEYOND_BUDGET to allow`);
  log.warn({ code: "QUOTAS_BEYOND_BUDGET" }, message);
  return quotas;
}
