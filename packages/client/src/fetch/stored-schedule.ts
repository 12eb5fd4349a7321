// The newest address schedule of each recipient that this wallet has seen.
import { addMonths, type Month, parseMonth, type SignedSchedule, scheduleDigest, scheduleJson } from "@sotto/protocol";
import { type Store, type StoredRecord, type StoreValue, WalletError } from "@sotto/wallet";
import { hashText } from "../purchase/hash.ts";
import { putChecked } from "../put-checked.ts";
import { FetchError } from "./errors.ts";

/** A recipient: its wallet, and the owner of its notes. */
export interface ScheduleOwner {
  readonly wallet: string;
  /** tag_0 of the wallet. */
  readonly ownerTag: bigint;
}

/** What a payment needs of a schedule. */
export interface KnownSchedule {
  /** Its `scheduleDigest`. */
  readonly digest: string;
  readonly sequence: number;
  readonly firstMonth: Month;
  /** The first halves of its addresses, hex with 0x. */
  readonly keys: readonly string[];
}

const keyOf = ({ wallet, ownerTag }: ScheduleOwner): string => `schedule/${hashText(`${wallet} ${ownerTag}`)}`;

/** A schedule as it is compared and searched. */
export const knownOf = ({ schedule }: SignedSchedule): KnownSchedule => {
  const { sequence, firstMonth, keys } = schedule;
  return { digest: scheduleDigest(schedule), sequence, firstMonth, keys };
};

/** @throws WalletError STORE_DAMAGED, because without the record any address would be paid */
function parseRecord(record: StoredRecord | undefined): KnownSchedule | undefined {
  if (record === undefined) return undefined;
  const { digest, sequence, firstMonth, keys } = Object(record.value) as Record<string, unknown>;
  const whole = typeof digest === "string" && Number.isSafeInteger(sequence) && isMonth(firstMonth);
  if (!whole || !Array.isArray(keys) || !keys.every((key) => typeof key === "string"))
    throw new WalletError("STORE_DAMAGED", "a stored address schedule is unreadable");
  return { digest, sequence: sequence as number, firstMonth, keys };
}

function isMonth(value: unknown): value is Month {
  try {
    return parseMonth(value) === value;
  } catch {
    return false;
  }
}

/** The newest schedule that was seen of a recipient; undefined if there is none. @throws WalletError STORE_DAMAGED */
export const storedSchedule = async (store: Store, owner: ScheduleOwner): Promise<KnownSchedule | undefined> =>
  parseRecord(await store.get(keyOf(owner)));

/** The month of an address of this recipient; undefined if the schedule does not list it. */
export function monthOf({ firstMonth, keys }: KnownSchedule, shieldedAddress: string): Month | undefined {
  const index = keys.indexOf(shieldedAddress.slice(0, keys[0]?.length));
  return index < 0 ? undefined : addMonths(firstMonth, index);
}

/**
 * Refuses a schedule that is older than the known one, or another one with the same sequence number: somebody may have brought
 * back addresses whose keys were stolen.
 * @param host the server that follows the schedule
 * @throws FetchError SCHEDULE_LOWER, SCHEDULE_CHANGED
 */
export function assertNewest(known: KnownSchedule | undefined, offered: KnownSchedule, host: string): void {
  if (known === undefined || known.digest === offered.digest || known.sequence < offered.sequence) return;
  const details = { host, known: known.sequence, offered: offered.sequence };
  if (known.sequence > offered.sequence)
    throw new FetchError(
      "SCHEDULE_LOWER",
      `${host} follows an address schedule with sequence number ${offered.sequence}, but its recipient has signed one with ` +
        `${known.sequence}; nothing was paid; ask the server's operator to serve the newest schedule`,
      details,
    );
  throw new FetchError(
    "SCHEDULE_CHANGED",
    `${host} follows another address schedule than before, with the same sequence number ${known.sequence}; nothing was paid; ` +
      "ask the server's operator to sign its schedule with a higher number",
    details,
  );
}

/**
 * Stores a checked schedule, unless a newer one was stored in the meantime.
 * @throws FetchError SCHEDULE_LOWER, SCHEDULE_CHANGED; WalletError STORE_DAMAGED
 */
export async function keepSchedule(store: Store, signed: SignedSchedule, host: string): Promise<void> {
  const offered = knownOf(signed);
  await putChecked(store, keyOf(signed.schedule), async (record) => {
    const known = parseRecord(record);
    assertNewest(known, offered, host);
    if (known?.digest === offered.digest) return undefined;
    return { ...scheduleJson(signed), digest: offered.digest } as unknown as StoreValue;
  });
}
