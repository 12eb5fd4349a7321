import { abortable, signatureCall } from "@sotto/chain";
import type { PayingWallet } from "@sotto/client";
import { type MessagePart, message, SottoError } from "@sotto/protocol";
import {
  decodeSignedSchedule,
  encodeSignedSchedule,
  MAX_SIGNED_SCHEDULE_BYTES,
  PREPAID_KEYS_PATH,
  type PrepaidKey,
  type SignedSchedule,
  scheduledKeys,
  verifyScheduleSignature,
} from "../index.ts";
import { ask, jsonOf } from "./ask.ts";
import { PrepaidError } from "./errors.ts";
import type { Comparison } from "./mirrors.ts";
import { pushSchedule } from "./push.ts";

/** Maximum schedules in the answer of a merchant. */
const MAX_SCHEDULES = 4;
const TIMEOUT_MS = 30_000;

/** The merchant whose keys are wanted. */
export interface Merchant {
  readonly origin: string;
  /** The wallet that must have signed, as the binding of a 402 names it; undefined if it is not known yet. */
  readonly wallet?: string | undefined;
}

const invalid = (text: string | readonly MessagePart[], cause?: unknown) =>
  new PrepaidError("PREPAID_SCHEDULE_REFUSED", text, {}, { cause });

/** Parses a merchant's list of signed schedules, before any signature is checked. */
function parseList(json: unknown, from: string): SignedSchedule[] {
  const { schedules } = Object(json) as Record<string, unknown>;
  if (!Array.isArray(schedules) || schedules.length > MAX_SCHEDULES)
    throw invalid(`${from} did not answer with a list of at most ${MAX_SCHEDULES} signed schedules`);
  try {
    return schedules.map(decodeSignedSchedule);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw invalid(message`${from} answers with an invalid schedule: ${cause}`, cause);
  }
}

/** Whether a schedule is for this merchant, chain and pool, and signed by its wallet. */
async function isSigned(
  signed: SignedSchedule,
  wallet: PayingWallet,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const chain = abortable(wallet.chain, signal);
  try {
    return await verifyScheduleSignature(signed, signatureCall(chain));
  } catch (cause) {
    // An unreachable node is not the merchant's fault.
    if (cause instanceof SottoError && cause.code === "BINDING_SIGNATURE_INVALID") return false;
    throw cause;
  }
}

/** The first field of a schedule that is not the expected one. */
function differingField({ schedule }: SignedSchedule, wallet: PayingWallet, merchant: Merchant): string | undefined {
  const { chainId, pool } = wallet.pool;
  if (schedule.chainId !== chainId) return "chainId";
  if (schedule.pool !== pool) return "pool";
  if (schedule.origin !== merchant.origin) return "origin";
  return merchant.wallet === undefined || schedule.wallet === merchant.wallet ? undefined : "wallet";
}

/**
 * Fetches the merchant's schedules and checks chain, pool, origin, wallet and signature of each.
 * @param send a fetch with a connection of its own
 * @throws PrepaidError PREPAID_NOT_OFFERED, PREPAID_SCHEDULE_REFUSED, PREPAID_UNREACHABLE; SottoError BINDING_UNCHECKED
 */
export async function merchantSchedules(
  send: typeof fetch,
  wallet: PayingWallet,
  merchant: Merchant,
  signal?: AbortSignal,
): Promise<SignedSchedule[]> {
  const maxBytes = (MAX_SCHEDULES + 1) * MAX_SIGNED_SCHEDULE_BYTES;
  const name = `${merchant.origin}${PREPAID_KEYS_PATH}`;
  const answer = await ask(send, name, {}, { name, maxBytes, timeoutMs: TIMEOUT_MS, signal });
  if (answer.status !== 200)
    throw new PrepaidError("PREPAID_NOT_OFFERED", `${merchant.origin} offers no prepaid tokens (${answer.status})`);
  const schedules = parseList(jsonOf(answer), merchant.origin);
  for (const signed of schedules) {
    const field = differingField(signed, wallet, merchant);
    if (field !== undefined) throw invalid(`a schedule of ${merchant.origin} is for another ${field}`);
    if (!(await isSigned(signed, wallet, signal)))
      throw invalid(`a schedule of ${merchant.origin} is not signed by the wallet that it names`);
  }
  return schedules;
}

/** A key that may be bought or spent. */
export interface MerchantKey {
  readonly origin: string;
  readonly wallet: string;
  readonly value: bigint;
  readonly epoch: string;
  readonly key: PrepaidKey;
}

export const keysOf = (schedules: readonly SignedSchedule[]): MerchantKey[] =>
  schedules.flatMap(({ schedule }) =>
    scheduledKeys(schedule).map((each) => ({ ...each, origin: schedule.origin, wallet: schedule.wallet })),
  );

/** Two signed schedules with different keys for one wallet, origin, value and epoch: evidence against the merchant. */
export interface Conflict {
  readonly first: SignedSchedule;
  readonly second: SignedSchedule;
  readonly value: bigint;
  readonly epoch: string;
}

/** Compares schedules key by key. @returns the first pair that contradicts each other */
export function findConflict(schedules: readonly SignedSchedule[]): Conflict | undefined {
  const seen = new Map<string, { id: string; from: SignedSchedule }>();
  for (const signed of schedules)
    for (const { wallet, origin, value, epoch, key } of keysOf([signed])) {
      const name = `${wallet} ${origin} ${value} ${epoch}`;
      const known = seen.get(name);
      if (known !== undefined && known.id !== key.id) return { first: known.from, second: signed, value, epoch };
      if (known === undefined) seen.set(name, { id: key.id, from: signed });
    }
  return undefined;
}

/**
 * How a mirror's schedules are compared with those of a merchant, key by key.
 * @param schedules of the merchant
 * @param wanted keys of one merchant, at least one: the mirror must have them
 */
export function scheduleComparison(
  wallet: PayingWallet,
  schedules: readonly SignedSchedule[],
  wanted: readonly MerchantKey[],
  signal: AbortSignal | undefined,
): Comparison<SignedSchedule, Conflict> {
  const merchant = { wallet: wanted[0]!.wallet, origin: wanted[0]!.origin };
  return {
    name: "schedule",
    list: "schedules",
    merchant,
    maxBytes: MAX_SIGNED_SCHEDULE_BYTES,
    decode: decodeSignedSchedule,
    isOwn: async (signed) =>
      differingField(signed, wallet, merchant) === undefined && (await isSigned(signed, wallet, signal)),
    conflict: (kept) => findConflict([...kept, ...schedules]),
    missing(kept) {
      const ids = new Set(keysOf(kept).map(({ key }) => key.id));
      const missing = new Set(wanted.filter(({ key }) => !ids.has(key.id)).map(({ key }) => key.id));
      return schedules.filter((signed) => keysOf([signed]).some(({ key }) => missing.has(key.id)));
    },
    push: (service, signed, options) => pushSchedule(service, encodeSignedSchedule(signed), options),
  };
}
