import { networkLimits } from "@sotto/server";
import { RegistryError } from "../errors.ts";
import type { Use } from "../quotas/quotas.ts";
import type { Rate } from "../quotas/rate.ts";
import type { RegistryLimits } from "./options.ts";
import type { LinkRequest, ResolveRequest } from "./types.ts";

const MINUTE = 60;
const DAY = 86_400;

/**
 * Other wallets have at most 50 guesses a day at a number's codes (10 codes with 5 tries each): a chance of 1 in
 * 20,000. The wallet that a number is linked to has its own limit, so that other wallets cannot exhaust it. All clients
 * together learn at most 2,000 unknown numbers a day in a range of 10,000. Network addresses, wallets and numbers are
 * cheap, so only the limit of all codes bounds the operator's cost.
 */
export const DEFAULT_LIMITS: RegistryLimits = {
  codes: {
    number: [
      { limit: 3, seconds: 10 * MINUTE },
      { limit: 10, seconds: DAY },
    ],
    linked: [
      { limit: 3, seconds: 10 * MINUTE },
      { limit: 10, seconds: DAY },
    ],
    wallet: [
      { limit: 5, seconds: 10 * MINUTE },
      { limit: 20, seconds: DAY },
    ],
    client: [
      { limit: 10, seconds: 10 * MINUTE },
      { limit: 50, seconds: DAY },
    ],
    total: [{ limit: 1_000, seconds: DAY }],
  },
  tries: {
    client: [
      { limit: 30, seconds: 10 * MINUTE },
      { limit: 150, seconds: DAY },
    ],
  },
  lookups: {
    client: [
      { limit: 60, seconds: MINUTE },
      { limit: 1_000, seconds: DAY },
    ],
    caller: [
      { limit: 60, seconds: MINUTE },
      { limit: 500, seconds: DAY },
    ],
    range: [{ limit: 2_000, seconds: DAY }],
    clientRange: [{ limit: 50, seconds: DAY }],
  },
  linkedPercent: 20,
  rangeDigits: 4,
  pendingSeconds: DAY,
  auditSeconds: 90 * DAY,
};

/** @throws RegistryError INVALID_OPTIONS */
export function limitsOf(given: Partial<RegistryLimits> = {}): RegistryLimits {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const { codes, tries, lookups } = limits;
  for (const rates of [codes, tries, lookups].flatMap((group) => Object.values(group) as (readonly Rate[])[]))
    for (const { limit, seconds } of rates) {
      assertCount("a limit", limit, 0);
      assertCount("a window in seconds", seconds, 1);
    }
  assertCount("linkedPercent", limits.linkedPercent, 0, 90);
  assertCount("rangeDigits", limits.rangeDigits, 1, 6);
  assertCount("pendingSeconds", limits.pendingSeconds, 5 * MINUTE, 30 * DAY);
  assertCount("auditSeconds", limits.auditSeconds, MINUTE);
  return limits;
}

function assertCount(name: string, value: number, from: number, to = 1_000_000_000): void {
  if (!Number.isSafeInteger(value) || value < from || value > to)
    throw new RegistryError("INVALID_OPTIONS", `${name} must be an integer from ${from} to ${to}`);
}

/**
 * The counters of one code. The wallet that the number is linked to has its own counter, and `linkedPercent` of all codes are
 * reserved for such wallets. For other wallets the counters are the same whether the number is linked or not, so that a refusal
 * does not reveal it.
 * @param isLinked whether the number is linked to this wallet
 */
export function codeUses(limits: RegistryLimits, { phone, wallet, client }: LinkRequest, isLinked: boolean): Use[] {
  const { codes, linkedPercent } = limits;
  const open = ({ limit, seconds }: Rate): Rate => ({
    limit: Math.ceil((limit * (100 - linkedPercent)) / 100),
    seconds,
  });
  const own: Use[] = [{ scope: "code-linked", subject: phone, rates: codes.linked }];
  const others: Use[] = [
    { scope: "code-number", subject: phone, rates: codes.number },
    { scope: "code-open-total", subject: "", rates: codes.total.map(open) },
  ];
  return [
    ...(isLinked ? own : others),
    { scope: "code-wallet", subject: wallet, rates: codes.wallet },
    ...clientUses("code-client", client, codes.client),
    { scope: "code-total", subject: "", rates: codes.total },
  ];
}

/** The counters of a number, which are deleted with the number. */
export const numberUses = ({ codes }: RegistryLimits, phone: string): Use[] => [
  { scope: "code-number", subject: phone, rates: codes.number },
  { scope: "code-linked", subject: phone, rates: codes.linked },
];

export const tryUses = ({ tries }: RegistryLimits, client: string): Use[] =>
  clientUses("try-client", client, tries.client);

/** One use for each network of the client: a /48 contains 65,536 networks of size /64. */
function clientUses(scope: Use["scope"], client: string, rates: readonly Rate[]): Use[] {
  return networkLimits(client, 1).map(({ network, limit: growth }) => ({
    scope,
    subject: network,
    rates: rates.map(({ limit, seconds }) => ({ limit: limit * growth, seconds })),
  }));
}

const rangeOf = ({ rangeDigits }: RegistryLimits, phone: string): string =>
  `${phone.slice(0, Math.max(2, phone.length - rangeDigits))}/${phone.length}`;

/** The client of a lookup for range limits and repeated lookups: the wallet that signed, else the network address. */
export const askerOf = ({ client, caller }: ResolveRequest): string =>
  caller === undefined ? `client ${client}` : `wallet ${caller}`;

/**
 * The counters of a lookup, for numbers that are new to the client and unknown.
 * @param seen whether the client looked the number up before; if so, the same number of counters is written,
 *   but without limits, so that the work is the same
 */
export function lookupUses(limits: RegistryLimits, request: ResolveRequest, seen: boolean): Use[] {
  const { lookups } = limits;
  const { phone, client, caller } = request;
  const range = rangeOf(limits, phone);
  const who = askerOf(request);
  const uses: Use[] = [
    ...clientUses("lookup-client", client, lookups.client),
    { scope: "lookup-clientRange", subject: `${range} ${who}`, rates: lookups.clientRange },
    ...(caller === undefined ? [] : [{ scope: "lookup-caller" as const, subject: caller, rates: lookups.caller }]),
    { scope: "lookup-range", subject: range, rates: lookups.range },
  ];
  if (!seen) return uses;
  const unlimited = ({ seconds }: Rate): Rate => ({ limit: Number.MAX_SAFE_INTEGER, seconds });
  return uses.map(({ scope, rates }, index) => ({
    scope,
    subject: `seen ${index} ${who}`,
    rates: rates.map(unlimited),
  }));
}
