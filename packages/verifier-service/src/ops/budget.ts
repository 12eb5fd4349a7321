// Anyone may pay himself, and his money comes back to him: what the quotas let one client do is what it can make the
// relayer pay, and what is spent for one is not there for the others.
import type { ChainReader } from "@sotto/chain";
import type { ServiceLog } from "@sotto/server";
import type { Config } from "../config/config.ts";

/** Gas of a payment that is settled alone, and of a large deposit or withdrawal. */
const PAYMENT_GAS = 350_000n;
const SPONSORED_GAS = 600_000n;
/** One client may use up one of so many parts of a day's budget before its operator is told. */
const PARTS = 4n;

type Settings = Pick<Config, "clientQuota" | "sponsorQuota" | "gasBudget">;

/**
 * @param price wei a gas
 * @returns what is wrong with the quotas at this price, undefined where one client leaves enough for the others
 */
export function beyondBudget({ clientQuota, sponsorQuota, gasBudget }: Settings, price: bigint): string | undefined {
  const part = gasBudget / PARTS;
  const sponsored = BigInt(sponsorQuota) * SPONSORED_GAS * price;
  const cost = BigInt(clientQuota) * PAYMENT_GAS * price + sponsored;
  if (cost <= part) return undefined;
  const left = part > sponsored ? (part - sponsored) / (PAYMENT_GAS * price) : 0n;
  return `at ${price} wei a gas one client can cost ${cost} wei a day, over a quarter of SOTTO_GAS_BUDGET (${gasBudget}): SOTTO_CLIENT_QUOTA would have to be ${left}, or the budget ${cost * PARTS}`;
}

/** Tells the operator once, at the start, by the price of gas then. On a local chain gas costs nothing. */
export async function tellBudget(config: Settings & Pick<Config, "local">, chain: ChainReader, log: ServiceLog) {
  if (config.local) return;
  const [{ baseFee }, tip = 0n] = await Promise.all([chain.head(), chain.priorityFee()]);
  const message = beyondBudget(config, baseFee + tip);
  if (message !== undefined) log.warn({ code: "QUOTAS_BEYOND_BUDGET" }, message);
}
