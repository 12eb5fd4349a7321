// A recipient with addresses of months, whose signatures nobody checks: these tests cover what comes before them.
import {
  type Address,
  addMonths,
  assertMonthAddresses,
  assertSchedule,
  deriveKeys,
  type Month,
  type MonthAddresses,
  monthBindings,
  parseMonth,
  type ViewingKeys,
} from "@sotto/protocol";
import { DEPLOYMENT, type TestRecipient } from "./payment.ts";

const SIGNATURE = `0x${"11".repeat(65)}`;
const WALLET: Address = `0x${"22".repeat(20)}`;

export const keysOf = (seed = 7) => deriveKeys(new Uint8Array(32).fill(seed), DEPLOYMENT);

interface Changes {
  readonly first?: string;
  readonly months?: number;
  readonly sequence?: number;
  readonly issuedAt?: number;
  readonly seed?: number;
  readonly pool?: Address;
}

/** Addresses from December 2026 to February 2027. */
export function addressesOf(changes: Changes = {}): MonthAddresses {
  const { first = "2026-12", months = 3, sequence = 1, issuedAt = 1_796_000_100, seed, pool } = changes;
  const keys = keysOf(seed);
  const firstMonth = parseMonth(first);
  const schedule = assertSchedule({
    ...{ wallet: WALLET, ...DEPLOYMENT, ...(pool === undefined ? {} : { pool }) },
    ...{ ownerTag: keys.ownerTag(0), sequence, issuedAt, firstMonth },
    keys: Array.from({ length: months }, (_, i) => keys.ofMonth(addMonths(firstMonth, i)).shieldedAddress.slice(0, 66)),
  });
  const bindings = monthBindings(schedule).map((one) => ({ ...one, signature: SIGNATURE }));
  return assertMonthAddresses({ schedule, signature: SIGNATURE, bindings });
}

/** The viewing keys of these months. */
export function viewingKeysOf(months: readonly string[], seed?: number): ViewingKeys {
  const keys = keysOf(seed);
  const named = months.map((month) => keys.ofMonth(parseMonth(month)));
  return {
    ownerTag: keys.ownerTag(0),
    keys: named.map(({ month, viewingKey, shieldedAddress }) => ({ month, viewingKey, shieldedAddress })),
  };
}

/** The recipient of a payment in a month. */
export function recipientOf(month: Month | string, seed?: number): TestRecipient {
  const keys = keysOf(seed);
  const { encryptionKey, viewingKey, shieldedAddress: address } = keys.ofMonth(parseMonth(month));
  return { wallet: WALLET, keyX: encryptionKey.x, ownerTag: keys.ownerTag(0), encryptionKey, viewingKey, address };
}

/** The same recipient with its lasting address. */
export function recipientOfLasting(seed?: number): TestRecipient {
  const keys = keysOf(seed);
  const { encryptionKey, viewingKey } = keys;
  const address = keys.shieldedAddress();
  return { wallet: WALLET, keyX: encryptionKey.x, ownerTag: keys.ownerTag(0), encryptionKey, viewingKey, address };
}
