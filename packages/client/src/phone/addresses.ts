import {
  type Address,
  type AddressSchedule,
  addMonths,
  addressesEnd,
  addressOwnerTag,
  assertMonthAddresses,
  assertSchedule,
  BINDING_LIFETIME_SECONDS,
  bindingSlots,
  bindingTypedData,
  type Deployment,
  MAX_SCHEDULE_MONTHS,
  type Month,
  type MonthAddresses,
  monthAt,
  monthBindings,
  monthEnd,
  monthRange,
  ProtocolError,
  parseMonth,
  type SignedMonthBinding,
  scheduleTypedData,
} from "@sotto/protocol";
import { normalizeServiceUrl, type Wallet } from "@sotto/wallet";
import { addressOf, type LookupSigner, signTyped } from "./lookup.ts";
import { phoneNumberOf } from "./number.ts";

/** What month addresses are derived and signed for. */
export interface AddressesOptions {
  /** Number of months, 1 to 13. Default: 12. */
  months?: number | undefined;
  /** The first month. Default: this month. */
  firstMonth?: Month | undefined;
  /** Clients follow the schedule with the highest number. Default: the time of signing, Unix seconds. */
  sequence?: number | undefined;
  /** A phone number that the bindings name. Default: none. */
  phone?: string | undefined;
  /** Base URL of the number's registry; valid only together with a number. */
  service?: string | undefined;
}

/** The part of a wallet that month addresses need. The keys suffice; the wallet need not be open. */
export interface AddressesWallet extends Pick<Wallet, "now"> {
  /** The pool for which the addresses are signed. */
  readonly pool: Deployment;
  /** The shielded address of a month, such as `keys.ofMonth(month).shieldedAddress` of `WalletKeys`. */
  addressOfMonth(month: Month): string;
}

/** @throws ProtocolError SCHEDULE_INVALID */
function assertCount(months: number): void {
  if (Number.isInteger(months) && months >= 1 && months <= MAX_SCHEDULE_MONTHS) return;
  const got = typeof months === "number" ? String(months) : typeof months;
  throw new ProtocolError("SCHEDULE_INVALID", `months must be an integer from 1 to ${MAX_SCHEDULE_MONTHS}, got ${got}`);
}

/** Signatures must outlive the months that they are for. @throws ProtocolError SCHEDULE_INVALID */
function assertSignedLongEnough(schedule: AddressSchedule, lastMonth: Month): void {
  if (addressesEnd(schedule) === monthEnd(lastMonth)) return;
  const days = BINDING_LIFETIME_SECONDS / 86_400;
  throw new ProtocolError(
    "SCHEDULE_INVALID",
    `the last month would be ${lastMonth}, but a signature of today is valid for ${days} days and ends before that month does; ask for fewer months`,
  );
}

/**
 * Derives the wallet's addresses of several months, and binds the account `signer` to all of them: it signs one schedule and
 * one binding for each month. The result is what a resource server needs to be paid.
 * @throws PhonePaymentError PHONE_NUMBER_INVALID; ServiceClientError SERVICE_NOT_ALLOWED; SottoError SCHEDULE_INVALID,
 *   INVALID_MONTH; the signer's own errors
 */
export async function signAddresses(
  wallet: AddressesWallet,
  signer: LookupSigner,
  { months = 12, firstMonth = monthAt(wallet.now()), sequence, phone, service }: AddressesOptions = {},
): Promise<MonthAddresses> {
  assertCount(months);
  const first = parseMonth(firstMonth, "firstMonth");
  const lastMonth = addMonths(first, months - 1);
  const addresses = monthRange(first, lastMonth).map((month) => wallet.addressOfMonth(month));
  const issuedAt = bindingSlots(wallet.now())[0]!;
  const { chainId, pool } = wallet.pool;
  const schedule = assertSchedule({
    ...{ wallet: await addressOf(signer), chainId, pool: pool as Address, issuedAt, firstMonth: first },
    ownerTag: addressOwnerTag(addresses[0]!),
    sequence: sequence ?? Math.floor(wallet.now() / 1000),
    keys: addresses.map((address) => address.slice(0, 66)),
  });
  assertSignedLongEnough(schedule, lastMonth);
  const unsigned = monthBindings(schedule, {
    phone: phone === undefined ? "" : phoneNumberOf(phone),
    service: service === undefined ? "" : normalizeServiceUrl(service),
  });
  const signature = await signTyped(signer, scheduleTypedData(schedule));
  const bindings: SignedMonthBinding[] = [];
  // One after the other, because a person may have to confirm each.
  for (const one of unsigned)
    bindings.push({ ...one, signature: await signTyped(signer, bindingTypedData(one.binding)) });
  return assertMonthAddresses({ schedule, signature, bindings });
}
