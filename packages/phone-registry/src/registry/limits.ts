import type { Use } from "../quotas/quotas.ts";
import { RegistryError } from "./errors.ts";
import type { Rate, RegistryLimits } from "./options.ts";
import type { LinkRequest, ResolveRequest } from "./types.ts";

const MINUTE = 60;
const DAY = 86_400;

/**
 * Fifty guesses a day at a number's codes at the very most (10 codes of 5 tries): one chance in 20,000. A range of
 * 10,000 numbers shows at most 2,000 unknown ones a day to everybody together. Addresses, wallets and numbers are cheap:
 * only a limit of all codes bounds what an operator pays for them.
 */
export const DEFAULT_LIMITS: RegistryLimits = {
  codes: {
    number: [
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
      expectCount("a limit", limit, 0);
      expectCount("a window in seconds", seconds, 1);
    }
  expectCount("rangeDigits", limits.rangeDigits, 1, 6);
  expectCount("pendingSeconds", limits.pendingSeconds, 5 * MINUTE, 30 * DAY);
  expectCount("auditSeconds", limits.auditSeconds, MINUTE);
  return limits;
}

function expectCount(name: string, value: number, from: number, to = 1_000_000_000): void {
  if (!Number.isSafeInteger(value) || value < from || value > to)
    throw new RegistryError("INVALID_OPTIONS", `${name} must be an integer from ${from} to ${to}`);
}

/** What one code sent counts for. */
export const codeUses = ({ codes }: RegistryLimits, { phone, wallet, client }: LinkRequest): Use[] => [
  { scope: "code-number", subject: phone, rates: codes.number },
  { scope: "code-wallet", subject: wallet, rates: codes.wallet },
  { scope: "code-client", subject: client, rates: codes.client },
  { scope: "code-total", subject: "", rates: codes.total },
];

/** The counters that are about this number alone, for its erasure. */
export const numberUses = ({ codes }: RegistryLimits, phone: string): Use[] => [
  { scope: "code-number", subject: phone, rates: codes.number },
];

export const tryUses = ({ tries }: RegistryLimits, client: string): Use[] => [
  { scope: "try-client", subject: client, rates: tries.client },
];

const rangeOf = ({ rangeDigits }: RegistryLimits, phone: string): string =>
  `${phone.slice(0, Math.max(2, phone.length - rangeDigits))}/${phone.length}`;

/** What one lookup counts for. In a range it counts for the wallet that signed, where one did. */
export function lookupUses(limits: RegistryLimits, { phone, client, caller }: ResolveRequest): Use[] {
  const { lookups } = limits;
  const who = caller === undefined ? `client ${client}` : `wallet ${caller}`;
  return [
    { scope: "lookup-client", subject: client, rates: lookups.client },
    { scope: "lookup-clientRange", subject: `${rangeOf(limits, phone)} ${who}`, rates: lookups.clientRange },
    ...(caller === undefined ? [] : [{ scope: "lookup-caller", subject: caller, rates: lookups.caller }]),
    ...rangeUses(limits, phone),
  ];
}

/** Only unknown numbers count for a range: many who pay one shop are no sign of somebody trying numbers. */
export const rangeUses = (limits: RegistryLimits, phone: string): Use[] => [
  { scope: "lookup-range", subject: rangeOf(limits, phone), rates: limits.lookups.range },
];
