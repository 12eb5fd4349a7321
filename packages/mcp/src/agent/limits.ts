import { AGENT_TOOLS, type AgentTool, isAgentTool, type WalletLimits } from "@sotto/cli-kit/home";
import { assertLimits, type SpendingLimits, spendingLeft } from "@sotto/client";
import { assertAmount, parseDecimalAmount, quoted, type SottoError } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { AgentError } from "../errors.ts";
import { type Amount, amountOf, type Token } from "./token.ts";

/** What an agent may spend, base units. */
export interface AgentLimits {
  /** For one request, base units. */
  readonly perRequest: bigint;
  /** For one host on one day (UTC), with all its ports. Payments to phone numbers count as the host `phone`. */
  readonly perHost: bigint;
  /** For single hosts on one day (UTC), by name, in place of `perHost`. */
  readonly hosts: Readonly<Record<string, bigint>>;
  /** For single tools on one day (UTC). */
  readonly tools: Readonly<Partial<Record<AgentTool, bigint>>>;
  /** For one hour (UTC). Undefined: only the limit for the day. */
  readonly perHour: bigint | undefined;
  /** For one day (UTC). */
  readonly perDay: bigint;
  /** A person has to approve each payment above this. */
  readonly approveAbove: bigint;
}

/** The limits that apply if the owner sets none, in whole tokens. */
const DEFAULTS = {
  perRequest: "0.1",
  perHost: "1",
  perDay: "2",
  approveAbove: "0.05",
} as const satisfies Partial<Record<keyof AgentLimits, string>>;

/** Fewer decimals than the defaults have are rounded down. */
const inBaseUnits = (text: string, decimals: number): bigint =>
  decimals >= 2 ? parseDecimalAmount(text, decimals) : BigInt(Math.floor(Number(text) * 10 ** decimals));

/** Limits as the owner sets them. */
export type GivenLimits = Readonly<WalletLimits>;

/** The limits, with defaults for those that are not given. @throws SottoError INVALID_AMOUNT; PurchaseError PURCHASE_INVALID */
export function limitsOf(given: GivenLimits, token: Token): AgentLimits {
  const limit = (name: keyof typeof DEFAULTS): bigint => {
    const amount = given[name];
    return amount === undefined ? inBaseUnits(DEFAULTS[name], token.decimals) : assertAmount(amount, name);
  };
  const { perHour, hosts = {}, tools = {} } = given;
  const limits = {
    perRequest: limit("perRequest"),
    perHost: limit("perHost"),
    hosts,
    tools,
    perHour,
    perDay: limit("perDay"),
    approveAbove: limit("approveAbove"),
  };
  assertLimits(spendingLimits(limits));
  for (const [tool, amount] of Object.entries(tools)) {
    if (!isAgentTool(tool))
      throw new AgentError("MCP_OPTION_INVALID", `limits.tools must name ${AGENT_TOOLS.join(" or ")}`);
    assertAmount(amount, `limits.tools.${tool}`);
  }
  if (limits.perRequest === 0n && given.perRequest === undefined)
    throw new AgentError("MCP_OPTION_INVALID", "the token has too few decimals for the default limits; set limits");
  return limits;
}

/** The limits of a tool in the form that the client's payments take. */
export const spendingLimits = (
  { perRequest, perHour, perDay, perHost, hosts, tools }: AgentLimits,
  tool?: AgentTool,
): SpendingLimits => ({
  perRequest,
  perHour,
  perDay,
  perHost,
  hosts,
  tool: tool && { name: tool, perDay: tools[tool] },
});

/** The option of `sotto limits` that raises the limit which refused a price; undefined for other errors. */
export function raisedWith({ code, details }: SottoError): string | undefined {
  const { host, tool } = details;
  const options: Readonly<Record<string, string>> = {
    REQUEST_LIMIT_EXCEEDED: "--max AMOUNT",
    HOUR_LIMIT_EXCEEDED: "--max-hour AMOUNT",
    DAY_LIMIT_EXCEEDED: "--max-day AMOUNT",
    HOST_LIMIT_EXCEEDED: `--max-host ${quoted(host, 253)}=AMOUNT`,
    TOOL_LIMIT_EXCEEDED: `--max-tool ${quoted(tool, 64)}=AMOUNT`,
  };
  return Object.hasOwn(options, code) ? options[code] : undefined;
}

/** What is left of the limits, as tools report it. */
export interface LimitsLeft {
  per_request: Amount;
  approve_above: Amount;
  left_today: Amount;
  /** Null if only the limit for the day applies. */
  left_this_hour: Amount | null;
  /** Null if the call concerned no host. */
  left_for_host: Amount | null;
  /** Null if the call concerned no tool, or the tool has no limit of its own. */
  left_for_tool: Amount | null;
  /** When the hour (UTC) ends, ISO 8601. */
  hour_ends: string;
  /** When the day (UTC) ends, ISO 8601. */
  day_ends: string;
}

/** @param of the host and the tool that a call concerned */
export async function limitsLeft(
  wallet: Wallet,
  limits: AgentLimits,
  token: Token,
  of: { readonly host: string | undefined; readonly tool: AgentTool } | undefined,
): Promise<LimitsLeft> {
  const place = { now: wallet.now(), host: of?.host ?? "" };
  const left = await spendingLeft(wallet.store, spendingLimits(limits, of?.tool), place);
  const amount = (value: bigint | undefined) => (value === undefined ? null : amountOf(value, token));
  return {
    per_request: amountOf(limits.perRequest, token),
    approve_above: amountOf(limits.approveAbove, token),
    left_today: amountOf(left.day ?? 0n, token),
    left_this_hour: amount(left.hour),
    left_for_host: of?.host === undefined ? null : amount(left.host),
    left_for_tool: amount(left.tool),
    hour_ends: iso(left.hourEnds),
    day_ends: iso(left.dayEnds),
  };
}

const iso = (time: number): string => new Date(time).toISOString();

/** A host or a tool with a limit of its own, and what is left of it. */
export interface NamedLeft {
  name: string;
  limit: Amount;
  left: Amount;
}

/** The hosts and tools with a limit of their own. */
export async function namedLeft(
  wallet: Wallet,
  limits: AgentLimits,
  token: Token,
): Promise<{ hosts: NamedLeft[]; tools: NamedLeft[] }> {
  const now = wallet.now();
  const named = (name: string, limit: bigint, left: bigint | undefined): NamedLeft => ({
    name,
    limit: amountOf(limit, token),
    left: amountOf(left ?? 0n, token),
  });
  const [hosts, tools]: [NamedLeft[], NamedLeft[]] = [[], []];
  for (const [host, limit] of Object.entries(limits.hosts))
    hosts.push(named(host, limit, (await spendingLeft(wallet.store, spendingLimits(limits), { now, host })).host));
  for (const [name, limit] of Object.entries(limits.tools) as [AgentTool, bigint][]) {
    const left = await spendingLeft(wallet.store, spendingLimits(limits, name), { now, host: "" });
    tools.push(named(name, limit, left.tool));
  }
  return { hosts, tools };
}
