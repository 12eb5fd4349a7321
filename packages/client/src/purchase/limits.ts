import { assertAmount } from "@sotto/protocol";
import type { Store, StoreChange } from "@sotto/wallet";
import { PurchaseError } from "./errors.ts";
import { hashText } from "./hash.ts";

/** Maximum base units to spend. Days are UTC days. A missing field means no limit. */
export interface SpendingLimits {
  /** For one request. */
  perRequest?: bigint | undefined;
  /** For one day. */
  perDay?: bigint | undefined;
  /** For one host on one day. */
  perHost?: bigint | undefined;
}

/** The day and the host whose limits a price counts against. */
export interface Reservation {
  day: string;
  host: string;
}

/** @throws SottoError INVALID_AMOUNT */
export function assertLimits(limits: SpendingLimits): SpendingLimits {
  for (const name of ["perRequest", "perDay", "perHost"] as const)
    if (limits[name] !== undefined) assertAmount(limits[name], name);
  return limits;
}

/** @param now ms */
export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10);

const dayKey = ({ day }: Reservation): string => `spending/${day}/total`;
const hostKey = ({ day, host }: Reservation): string => `spending/${day}/host/${hashText(host)}`;

async function read(store: Store, key: string): Promise<{ spent: bigint; version: number }> {
  const found = await store.get(key);
  return { spent: BigInt(typeof found?.value === "string" ? found.value : 0), version: found?.version ?? 0 };
}

/**
 * Refuses a price above the limit for one request. Reads and reserves nothing.
 * @throws PurchaseError REQUEST_LIMIT_EXCEEDED
 */
export function assertWithinLimit({ perRequest }: SpendingLimits, price: bigint): void {
  if (perRequest === undefined || price <= perRequest) return;
  const told = { price: String(price), limit: String(perRequest) };
  throw new PurchaseError(
    "REQUEST_LIMIT_EXCEEDED",
    `the price is ${price} base units, but the limit per request is ${perRequest} base units`,
    told,
  );
}

/** A counter of spending, and its version in the store. */
type Counter = Awaited<ReturnType<typeof read>>;

async function countersOf(store: Store, place: Reservation): Promise<{ total: Counter; host: Counter }> {
  return { total: await read(store, dayKey(place)), host: await read(store, hostKey(place)) };
}

function assertRoom(
  { perDay, perHost }: SpendingLimits,
  price: bigint,
  { total, host }: { total: Counter; host: Counter },
  place: Reservation,
): void {
  const exceeds = (spent: bigint, limit: bigint | undefined) => limit !== undefined && spent + price > limit;
  const message = (spent: bigint, limit: bigint | undefined, where: string) =>
    `the price is ${price} base units, but ${spent} base units of the ${limit} base units allowed per day${where} ` +
    "(UTC) are spent or reserved";
  const told = (spent: bigint, limit: bigint | undefined) => ({
    price: String(price),
    spent: String(spent),
    limit: String(limit),
  });
  if (exceeds(total.spent, perDay))
    throw new PurchaseError("DAY_LIMIT_EXCEEDED", message(total.spent, perDay, ""), told(total.spent, perDay));
  if (exceeds(host.spent, perHost))
    throw new PurchaseError("HOST_LIMIT_EXCEEDED", message(host.spent, perHost, ` for ${place.host}`), {
      ...told(host.spent, perHost),
      host: place.host,
    });
}

/**
 * Checks whether a price is within the limits now, for example before a person is asked. Reserves nothing: the payment
 * itself checks again.
 * @throws PurchaseError REQUEST_LIMIT_EXCEEDED, DAY_LIMIT_EXCEEDED, HOST_LIMIT_EXCEEDED
 */
export async function assertSpendable(
  store: Store,
  limits: SpendingLimits,
  price: bigint,
  { now, host }: { readonly now: number; readonly host: string },
): Promise<void> {
  assertWithinLimit(limits, price);
  const place = { day: dayOf(now), host };
  assertRoom(limits, price, await countersOf(store, place), place);
}

/**
 * Returns the writes that reserve a price, for the batch that begins the purchase. They fail if the counters changed in
 * the meantime, so that two concurrent payments cannot both spend the remainder of a limit.
 * @throws PurchaseError REQUEST_LIMIT_EXCEEDED, DAY_LIMIT_EXCEEDED, HOST_LIMIT_EXCEEDED
 */
export async function reserve(
  store: Store,
  limits: SpendingLimits,
  price: bigint,
  place: Reservation,
): Promise<StoreChange[]> {
  assertWithinLimit(limits, price);
  const { total, host } = await countersOf(store, place);
  assertRoom(limits, price, { total, host }, place);
  return [
    { put: dayKey(place), value: String(total.spent + price), expected: total.version },
    { put: hostKey(place), value: String(host.spent + price), expected: host.version },
  ];
}

/** Returns the writes that release a reserved price. The caller ensures that the purchase can never be paid. */
export async function release(store: Store, price: bigint, place: Reservation): Promise<StoreChange[]> {
  const changes: StoreChange[] = [];
  for (const key of [dayKey(place), hostKey(place)]) {
    const { spent, version } = await read(store, key);
    changes.push({ put: key, value: String(spent > price ? spent - price : 0n), expected: version });
  }
  return changes;
}

/** Base units spent or reserved on the day of `now`, in total or for one host. */
export async function spentOn(store: Store, now: number, host?: string): Promise<bigint> {
  const place = { day: dayOf(now), host: host ?? "" };
  return (await read(store, host === undefined ? dayKey(place) : hostKey(place))).spent;
}
