import { type SpendingLimits, spentOn } from "@sotto/client";
import { assertAmount, parseDecimalAmount } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { AgentError } from "../errors.ts";
import { type Amount, amountOf, type Token } from "./token.ts";

/** What an agent may spend, base units. */
export interface AgentLimits {
  /** For one request, base units. */
  readonly perRequest: bigint;
  /** For one host on one day (UTC). Payments to phone numbers count as one host. */
  readonly perHost: bigint;
  /** For one day (UTC). */
  readonly perDay: bigint;
  /** A person has to approve each payment above this. */
  readonly approveAbove: bigint;
}

/** The limits that apply if the owner sets none, in whole tokens. */
const DEFAULTS: Readonly<Record<keyof AgentLimits, string>> = {
  perRequest: "0.1",
  perHost: "1",
  perDay: "2",
  approveAbove: "0.05",
};

/** Fewer decimals than the defaults have are rounded down. */
const inBaseUnits = (text: string, decimals: number): bigint =>
  decimals >= 2 ? parseDecimalAmount(text, decimals) : BigInt(Math.floor(Number(text) * 10 ** decimals));

/** Limits as the owner sets them. */
export type GivenLimits = { readonly [Name in keyof AgentLimits]?: bigint | undefined };

/** The limits, with defaults for those that are not given. @throws SottoError INVALID_AMOUNT */
export function limitsOf(given: GivenLimits, token: Token): AgentLimits {
  const limit = (name: keyof AgentLimits): bigint => {
    const amount = given[name];
    return amount === undefined ? inBaseUnits(DEFAULTS[name], token.decimals) : assertAmount(amount, name);
  };
  const limits = {
    perRequest: limit("perRequest"),
    perHost: limit("perHost"),
    perDay: limit("perDay"),
    approveAbove: limit("approveAbove"),
  };
  if (limits.perRequest === 0n && given.perRequest === undefined)
    throw new AgentError("MCP_OPTION_INVALID", "the token has too few decimals for the default limits; set limits");
  return limits;
}

/** The limits in the form that the client's payments take. */
export const spendingLimits = ({ perRequest, perDay, perHost }: AgentLimits): SpendingLimits => ({
  perRequest,
  perDay,
  perHost,
});

/** What is left of the limits, as tools report it. */
export interface LimitsLeft {
  per_request: Amount;
  approve_above: Amount;
  left_today: Amount;
  /** Null if the call concerned no host. */
  left_for_host: Amount | null;
}

const rest = (limit: bigint, spent: bigint): bigint => (spent < limit ? limit - spent : 0n);

export async function limitsLeft(
  wallet: Wallet,
  limits: AgentLimits,
  token: Token,
  host: string | undefined,
): Promise<LimitsLeft> {
  const today = rest(limits.perDay, await spentOn(wallet.store, wallet.now()));
  const atHost = host === undefined ? undefined : rest(limits.perHost, await spentOn(wallet.store, wallet.now(), host));
  return {
    per_request: amountOf(limits.perRequest, token),
    approve_above: amountOf(limits.approveAbove, token),
    left_today: amountOf(today, token),
    left_for_host: atHost === undefined ? null : amountOf(atHost, token),
  };
}
