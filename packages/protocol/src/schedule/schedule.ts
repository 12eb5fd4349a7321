import { assertIssuedAt } from "../binding/binding.ts";
import { type StructFields, structDigest, type TypedData, typedDataOf, typedDataRequest } from "../binding/eip712.ts";
import type { Bytes32 } from "../contexts.ts";
import { unpackPoint } from "../curve/codec.ts";
import { describe, fail, recode } from "../errors.ts";
import { type Address, parseAddress } from "../ethereum-address.ts";
import { bigIntToBytes, bytesToHex, hexToBytes } from "../hex.ts";
import { addMonths, type Month, monthRange, monthStart, monthsNear, parseMonth } from "../month.ts";
import { assertField, assertObject, assertUint } from "../validate.ts";

/**
 * The statement that a wallet signs to name its addresses of several months: in each month only that month's address is paid.
 * Whoever holds the viewing key of a month reads that month's address and no other.
 */
export interface AddressSchedule {
  /** The wallet that signs. */
  readonly wallet: Address;
  /** EIP-155 id of the pool's chain, below 2^256. */
  readonly chainId: bigint;
  /** The only pool in which the addresses may be paid. */
  readonly pool: Address;
  /** tag_0 of the wallet, the second half of each address: the notes of every month are spent with one key. */
  readonly ownerTag: bigint;
  /** Of two schedules of one wallet and tag, the one with the higher number counts. 1 or more; at most an hour after issuedAt. */
  readonly sequence: number;
  /** Seconds since the Unix epoch, a multiple of BINDING_SLOT_SECONDS. */
  readonly issuedAt: number;
  /** The month of the first address; each further one is for the next month. */
  readonly firstMonth: Month;
  /** pack(PK) of each month, 32 bytes as hex with 0x, 1 to MAX_SCHEDULE_MONTHS. */
  readonly keys: readonly string[];
}

/** Maximum months of a schedule: the bindings of its addresses, signed at the same time, live 400 days. */
export const MAX_SCHEDULE_MONTHS = 13;

/**
 * The months whose addresses may be paid in a pool: from the pool's deployment to the end of the longest schedule.
 * None outside 2020 to 2099.
 * @param since when the pool was deployed, ms
 * @param now ms
 * @throws SottoError INVALID_INTEGER; INVALID_MONTH if the longest schedule ends after 2099
 */
export function payableMonths(since: number, now: number): Month[] {
  const [[first], [last]] = [monthsNear(since), monthsNear(now)];
  return first === undefined || last === undefined ? [] : monthRange(first, addMonths(last, MAX_SCHEDULE_MONTHS));
}

/**
 * Maximum by which a schedule's number may exceed its issuedAt: one hour. A thief of the account could otherwise sign the highest
 * number there is, and clients would refuse every later schedule of the owner.
 */
export const MAX_SEQUENCE_LEAD_SECONDS = 3_600;

const NAME = "AddressSchedule";
const FIELDS: StructFields = [
  { name: "wallet", type: "address" },
  { name: "chainId", type: "uint256" },
  { name: "pool", type: "address" },
  { name: "ownerTag", type: "uint256" },
  { name: "sequence", type: "uint64" },
  { name: "issuedAt", type: "uint64" },
  { name: "firstMonth", type: "string" },
  { name: "keys", type: "bytes" },
];

function parseKeys(value: unknown, firstMonth: Month): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_SCHEDULE_MONTHS)
    fail("SCHEDULE_INVALID", `keys must be an array of 1 to ${MAX_SCHEDULE_MONTHS} keys, got ${describe(value)}`);
  const keys = value.map((key: unknown, index) => {
    const text = bytesToHex(hexToBytes(key, 32, `keys[${index}]`));
    unpackPoint(text, `keys[${index}]`);
    return text;
  });
  // Whoever has the key of one month would read two.
  if (new Set(keys).size !== keys.length) fail("SCHEDULE_INVALID", "two months have the same key");
  addMonths(firstMonth, keys.length);
  return Object.freeze(keys);
}

function parseSequence(value: unknown, issuedAt: number): number {
  const max = issuedAt + MAX_SEQUENCE_LEAD_SECONDS;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value <= max) return value;
  const got = typeof value === "number" ? String(value) : describe(value);
  fail(
    "SCHEDULE_INVALID",
    `sequence must be an integer from 1 to ${max}, an hour after issuedAt, so that a later schedule can have a higher one; got ${got}`,
  );
}

/** Schedules that `assertSchedule` returned. They are frozen, so they stay valid. */
const checked = new WeakSet<object>();

/**
 * Checks that every field of a schedule is well-formed, and that its keys are points of the curve. Returns it in lower case,
 * frozen; checking that object again costs nothing. Does not check its signature or its age.
 * @throws SottoError SCHEDULE_INVALID; the message names the field
 */
export function assertSchedule(value: unknown): AddressSchedule {
  return recode("SCHEDULE_INVALID", "not a schedule of addresses", () => {
    if (checked.has(value as object)) return value as AddressSchedule;
    assertObject(value, "a schedule");
    const { wallet, chainId, pool, ownerTag, sequence, issuedAt, firstMonth, keys } = value as AddressSchedule;
    const first = parseMonth(firstMonth, "firstMonth");
    const issued = assertIssuedAt(issuedAt);
    const schedule = Object.freeze({
      wallet: parseAddress(wallet, "wallet"),
      chainId: assertUint(chainId, 256, "chainId"),
      pool: parseAddress(pool, "pool"),
      ownerTag: assertField(ownerTag, "ownerTag"),
      sequence: parseSequence(sequence, issued),
      issuedAt: issued,
      firstMonth: first,
      keys: parseKeys(keys, first),
    });
    checked.add(schedule);
    return schedule;
  });
}

const valuesOf = (schedule: AddressSchedule) => ({
  ...schedule,
  keys: `0x${schedule.keys.map((key) => key.slice(2)).join("")}`,
});

/** The EIP-712 data of a schedule, which a wallet signs. */
export type ScheduleTypedData = TypedData<typeof NAME>;

/**
 * The typed data that the wallet signs. To call `eth_signTypedData_v4` directly, pass `scheduleRequest` instead.
 * @throws SottoError SCHEDULE_INVALID
 */
export const scheduleTypedData = (schedule: AddressSchedule): ScheduleTypedData =>
  typedDataOf(NAME, FIELDS, valuesOf(assertSchedule(schedule)));

/** The second parameter of `eth_signTypedData_v4`: JSON with the domain's type. @throws SottoError SCHEDULE_INVALID */
export const scheduleRequest = (schedule: AddressSchedule): string => typedDataRequest(scheduleTypedData(schedule));

/** The EIP-712 digest that the wallet signs. It identifies the schedule. @throws SottoError SCHEDULE_INVALID */
export const scheduleDigest = (schedule: AddressSchedule): Bytes32 =>
  structDigest(NAME, FIELDS, valuesOf(assertSchedule(schedule)));

/** The months of a schedule, in order. @throws SottoError SCHEDULE_INVALID */
export function scheduleMonths(schedule: AddressSchedule): Month[] {
  const { firstMonth, keys } = assertSchedule(schedule);
  return keys.map((_, index) => addMonths(firstMonth, index));
}

/**
 * The shielded address of a month; undefined if the schedule has none for it.
 * @throws SottoError SCHEDULE_INVALID, INVALID_MONTH
 */
export function addressInSchedule(schedule: AddressSchedule, month: Month): string | undefined {
  const { keys, ownerTag } = assertSchedule(schedule);
  const start = monthStart(month);
  const index = scheduleMonths(schedule).findIndex((each) => monthStart(each) === start);
  const key = keys[index];
  return key === undefined ? undefined : key + bytesToHex(bigIntToBytes(ownerTag, 32)).slice(2);
}
