import { assertBinding, type ShieldedAddressBinding } from "../binding/binding.ts";
import { normalizeSignature } from "../binding/signature.ts";
import { BINDING_LIFETIME_SECONDS } from "../binding/time.ts";
import { describe, fail, recode } from "../errors.ts";
import { type Month, monthEnd, monthStart } from "../month.ts";
import { fieldsOf, parseConstant } from "../object-fields.ts";
import { assertObject } from "../validate.ts";
import { parseSchedule, type ScheduleJson, type SignedSchedule, scheduleJson } from "./file.ts";
import { type AddressSchedule, addressInSchedule, assertSchedule, scheduleMonths } from "./schedule.ts";

const CODE = "SCHEDULE_INVALID";
const TYPE = "sotto-addresses";
const VERSION = 1;
/** Time between the notice and the start of the last month, ms: 30 days. */
const NOTICE_MS = 30 * 86_400_000;

/** Maximum length of the JSON of month addresses, characters: a schedule, and 13 of the longest signatures. */
export const MAX_ADDRESSES_LENGTH = 240_000;

/** The address of a month, as its wallet signs it in the interface's format. */
export interface MonthBinding {
  /** The only month in which the address is paid. */
  readonly month: Month;
  /** What the wallet signs. */
  readonly binding: ShieldedAddressBinding;
}

/** The address of a month with its wallet's signature. */
export interface SignedMonthBinding extends MonthBinding {
  /** The wallet's signature of the binding, 1 to 8,192 bytes, hex with 0x. */
  readonly signature: string;
}

/** The addresses of several months, as a server publishes them: a signed schedule, and a signed binding of each month. */
export interface MonthAddresses extends SignedSchedule {
  /** One for each month of the schedule, in order. All have the schedule's issuedAt. */
  readonly bindings: readonly SignedMonthBinding[];
}

/** The fields of a binding that the addresses of all months share. */
export interface SharedBindingFields {
  /** E.164. Default: "", no number. */
  readonly phone?: string | undefined;
  /** Base URL of the registry that publishes the number. Default: "". */
  readonly service?: string | undefined;
}

/** The JSON of month addresses. It has no secret. The bindings follow from its other fields. */
export interface MonthAddressesJson {
  /** Constant of the format. */
  readonly type: typeof TYPE;
  /** Constant of the format. */
  readonly version: typeof VERSION;
  /** The schedule with its signature. */
  readonly schedule: ScheduleJson;
  /** E.164, or "". */
  readonly phone: string;
  /** Base URL of a registry, or "". */
  readonly service: string;
  /** The wallet's signature of each month's binding, in order; hex with 0x. */
  readonly signatures: readonly string[];
}

/**
 * The bindings of a schedule's addresses, which its wallet signs together with the schedule.
 * @throws SottoError SCHEDULE_INVALID
 */
export function monthBindings(schedule: AddressSchedule, fields: SharedBindingFields = {}): MonthBinding[] {
  return recode(CODE, "not addresses of months", () => {
    assertObject(fields, "the shared fields");
    const { phone = "", service = "" } = fields;
    const months = scheduleMonths(schedule);
    const { wallet, chainId, pool, issuedAt } = schedule;
    return months.map((month) => {
      const key = addressInSchedule(schedule, month);
      return { month, binding: assertBinding({ phone, wallet, key, chainId, pool, service, issuedAt }) };
    });
  });
}

/** Month addresses that `assertMonthAddresses` returned. They are frozen, so they stay valid. */
const checked = new WeakSet<object>();

/**
 * Checks the form of a schedule and of its bindings, and that each binding is for the schedule's address of its month.
 * Returns them frozen; checking that object again costs nothing. Does not check signatures or ages.
 * @throws SottoError SCHEDULE_INVALID; the message names the field and never contains the number
 */
export function assertMonthAddresses(value: unknown): MonthAddresses {
  return recode(CODE, "not addresses of months", () => {
    if (checked.has(value as object)) return value as MonthAddresses;
    assertObject(value, "the addresses");
    const { schedule, signature, bindings } = value as MonthAddresses;
    if (!Array.isArray(bindings)) fail(CODE, `bindings must be an array, got ${describe(bindings)}`);
    const given: readonly Partial<SignedMonthBinding>[] = bindings.map((one: unknown) => Object(one));
    const { phone, service } = Object(given[0]?.binding) as Partial<ShieldedAddressBinding>;
    const signatures = given.map((one) => one.signature);
    const addresses = join({ schedule, signature }, { phone, service }, signatures);
    addresses.bindings.forEach((expected, index) => {
      const { month, binding } = given[index]!;
      if (month !== expected.month || !isSame(expected.binding, binding))
        fail(CODE, `bindings[${index}] must be the binding of the schedule's address of ${expected.month}`);
    });
    return addresses;
  });
}

function isSame(expected: ShieldedAddressBinding, binding: ShieldedAddressBinding | undefined): boolean {
  const found = assertBinding(binding);
  return (Object.keys(expected) as (keyof ShieldedAddressBinding)[]).every((name) => found[name] === expected[name]);
}

function join(signed: SignedSchedule, fields: SharedBindingFields, signatures: readonly unknown[]): MonthAddresses {
  const { signature } = signed;
  const bindings = monthBindings(signed.schedule, fields);
  if (signatures.length !== bindings.length)
    fail(CODE, `there must be one signature for each of the ${bindings.length} months, got ${signatures.length}`);
  const addresses = Object.freeze({
    schedule: assertSchedule(signed.schedule),
    signature: normalizeSignature(signature),
    bindings: Object.freeze(
      bindings.map((one, index) => Object.freeze({ ...one, signature: normalizeSignature(signatures[index]) })),
    ),
  });
  checked.add(addresses);
  return addresses;
}

/** The JSON of month addresses, as `parseMonthAddresses` reads it. @throws SottoError SCHEDULE_INVALID */
export function monthAddressesJson(addresses: MonthAddresses): MonthAddressesJson {
  const { bindings, ...signed } = assertMonthAddresses(addresses);
  const { phone, service } = bindings[0]!.binding;
  const signatures = bindings.map(({ signature }) => signature);
  return { type: TYPE, version: VERSION, schedule: scheduleJson(signed), phone, service, signatures };
}

/**
 * Parses the JSON of month addresses strictly; unknown fields are ignored. Does not check the signatures.
 * @param json the parsed JSON; limit its text to MAX_ADDRESSES_LENGTH before parsing it
 * @throws SottoError SCHEDULE_INVALID; the message names the field and never contains the number
 */
export function parseMonthAddresses(json: unknown): MonthAddresses {
  const field = fieldsOf(json, "addresses of months", CODE);
  return recode(CODE, "not addresses of months", () => {
    parseConstant(field("type"), TYPE, "type");
    parseConstant(field("version"), VERSION, "version");
    const signatures = field("signatures");
    if (!Array.isArray(signatures)) fail(CODE, `signatures must be an array, got ${describe(signatures)}`);
    // `monthBindings` gives absent fields a default, but a file has every field.
    const [phone, service] = ["phone", "service"].map((name) => text(field(name), name));
    return join(parseSchedule(field("schedule")), { phone, service }, signatures);
  });
}

function text(value: unknown, name: string): string {
  // The number is personal data, so the message does not contain it.
  if (typeof value !== "string") fail(CODE, `${name} must be a text, or empty`);
  return value;
}

/**
 * When the addresses end, ms: with the last month, or with the signatures of the bindings, which live 400 days.
 * @throws SottoError SCHEDULE_INVALID
 */
export function addressesEnd(schedule: AddressSchedule): number {
  const months = scheduleMonths(schedule);
  return Math.min(monthEnd(months.at(-1)!), (schedule.issuedAt + BINDING_LIFETIME_SECONDS) * 1000);
}

/**
 * When the owner of a schedule should sign the next one, ms: 30 days before the last month begins.
 * @throws SottoError INVALID_MONTH
 */
export const addressesDue = (lastMonth: Month): number => monthStart(lastMonth) - NOTICE_MS;
