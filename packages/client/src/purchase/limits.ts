import { assertAmount, networkOf, quoted } from "@sotto/protocol";
import type { Store, StoreChange } from "@sotto/wallet";
import { PurchaseError } from "./errors.ts";
import { hashText } from "./hash.ts";

/**
 * Maximum base units to spend. Hours and days are those of UTC: each begins with nothing spent. A purchase counts in the
 * hour and on the day in which it begins. A missing field means no limit.
 */
export interface SpendingLimits {
  /** For one request. */
  perRequest?: bigint | undefined;
  /** For one hour. */
  perHour?: bigint | undefined;
  /** For one day. */
  perDay?: bigint | undefined;
  /** For one host on one day. A host is a name or an address, with all its ports. */
  perHost?: bigint | undefined;
  /** For single hosts on one day, in place of `perHost`. At most 100. */
  hosts?: Readonly<Record<string, bigint>> | undefined;
  /** The agent's tool that spends. */
  tool?: ToolLimit | undefined;
}

/** A tool of an agent, and its share of a day. */
export interface ToolLimit {
  /** 1 to 64 letters, digits, `_`, `-` and `.`. */
  readonly name: string;
  /** Maximum base units that the tool may spend on one day (UTC). Default: no limit of its own. */
  readonly perDay?: bigint | undefined;
}

/** The hour, the host and the tool whose limits a price counts against. */
export interface Reservation {
  /** Such as 2026-11-28T21. Its first ten characters are the day. */
  readonly hour: string;
  /** With its port, as it was paid. */
  readonly host: string;
  /** Null if no tool spends. */
  readonly tool: string | null;
}

/** Maximum hosts with a limit of their own. */
export const MAX_LIMITED_HOSTS = 100;
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const HOUR_MS = 3_600_000;

/**
 * The name under which spending at a host counts: without port and final dots, in lower case and in ASCII, so that
 * another spelling of a host gets no limit of its own.
 * @param host as in a URL, with or without port
 */
export function limitHost(host: string): string {
  const url = `http://${host}`;
  const name = (URL.canParse(url) ? new URL(url).hostname : host).replace(/\.+$/, "");
  if (!name.startsWith("[")) return name;
  // The network of an IPv4 address in IPv6 notation is the IPv4 address; others end with their prefix length.
  const network = networkOf(name);
  return network.includes("/") ? name : network;
}

/** Maximum length of a host name. */
const MAX_HOST_LENGTH = 253;

/**
 * Whether a text is a host as limits name it. A limit under another name would have no effect: that of another spelling, of
 * what no URL can have, or of a pattern such as `*.example`.
 */
export const isLimitHost = (text: string): boolean =>
  text.length <= MAX_HOST_LENGTH && !text.includes("*") && URL.canParse(`http://${text}`) && limitHost(text) === text;

/**
 * Checks the amounts and names of limits, and returns the limits.
 * @throws SottoError INVALID_AMOUNT; PurchaseError PURCHASE_INVALID
 */
export function assertLimits(limits: SpendingLimits): SpendingLimits {
  for (const name of ["perRequest", "perHour", "perDay", "perHost"] as const)
    if (limits[name] !== undefined) assertAmount(limits[name], name);
  const { hosts, tool } = limits;
  const invalid = (message: string) => new PurchaseError("PURCHASE_INVALID", message);
  if (tool !== undefined && !TOOL_NAME.test(tool.name))
    throw invalid("the name of a tool must be 1 to 64 letters, digits, _, - and .");
  if (tool?.perDay !== undefined) assertAmount(tool.perDay, `the limit of the tool ${tool.name}`);
  const entries = Object.entries(hosts ?? {});
  if (entries.length > MAX_LIMITED_HOSTS)
    throw invalid(`${entries.length} hosts have a limit of their own; at most ${MAX_LIMITED_HOSTS} can`);
  for (const [host, limit] of entries) {
    if (!isLimitHost(host))
      throw invalid(
        `a limit names the host ${quoted(host, 100)}; expected one as in a URL, in lower case and without port, such as api.example`,
      );
    assertAmount(limit, `the limit of the host ${host}`);
  }
  return limits;
}

const hourOf = (now: number): string => new Date(now).toISOString().slice(0, 13);

/** Where a payment at a host counts: the hour of `now` (ms, UTC), the host, and the tool of the limits. */
export const reservationAt = (now: number, host: string, { tool }: SpendingLimits): Reservation => ({
  hour: hourOf(now),
  host,
  tool: tool?.name ?? null,
});

const CODES = {
  day: "DAY_LIMIT_EXCEEDED",
  host: "HOST_LIMIT_EXCEEDED",
  tool: "TOOL_LIMIT_EXCEEDED",
  hour: "HOUR_LIMIT_EXCEEDED",
} as const;

/** One of the counters in which a price counts, and its limit. */
export interface Count {
  readonly kind: keyof typeof CODES;
  /** Its key in the store. */
  readonly key: string;
  readonly limit: bigint | undefined;
  /** What the limit is for. */
  readonly of: string;
  /** When it begins again with nothing spent, ms. */
  readonly ends: number;
}

/** Folder of the counters of payments in the store. */
const PAYMENTS = "spending";
/** Folder of the counters of charges. */
export const CHARGES = "charged";

/**
 * The counters of a reservation. Those of the day come first, so that an agent does not wait an hour in vain.
 * @param folder of their keys in the store
 */
export function countsOf(limits: SpendingLimits, place: Reservation, folder: string): Count[] {
  const { hour, tool } = place;
  const host = limitHost(place.host);
  const day = hour.slice(0, 10);
  const ends = Date.parse(`${day}T00:00:00Z`) + 24 * HOUR_MS;
  const { perDay, perHour, perHost, hosts = {} } = limits;
  const perThisHost = Object.hasOwn(hosts, host) ? hosts[host] : perHost;
  const counts: (Count | undefined)[] = [
    { kind: "day", key: `${folder}/${day}/total`, limit: perDay, of: "per day (UTC)", ends },
    {
      kind: "host",
      key: `${folder}/${day}/host/${hashText(host)}`,
      limit: perThisHost,
      of: `per day (UTC) for ${quoted(host, 100)}`,
      ends,
    },
    tool === null
      ? undefined
      : {
          kind: "tool",
          key: `${folder}/${day}/tool/${tool}`,
          limit: limits.tool?.perDay,
          of: `per day (UTC) for the tool ${tool}`,
          ends,
        },
    {
      kind: "hour",
      key: `${folder}/${day}/hour/${hour.slice(11)}`,
      limit: perHour,
      of: "per hour (UTC)",
      ends: Date.parse(`${hour}:00:00Z`) + HOUR_MS,
    },
  ];
  return counts.filter((count) => count !== undefined);
}

/** A counter as the store has it. */
interface Counter extends Count {
  readonly spent: bigint;
  readonly version: number;
}

async function readCounts(
  store: Store,
  limits: SpendingLimits,
  place: Reservation,
  folder = PAYMENTS,
): Promise<Counter[]> {
  const counters: Counter[] = [];
  for (const count of countsOf(limits, place, folder)) counters.push({ ...count, ...(await read(store, count.key)) });
  return counters;
}

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

/** @throws PurchaseError of the first limit that the price exceeds */
export function assertRoom(
  price: bigint,
  counters: readonly (Count & { readonly spent: bigint })[],
  { host, tool }: Reservation,
): void {
  for (const { kind, limit, spent, of, ends } of counters) {
    if (limit === undefined || spent + price <= limit) continue;
    const code = CODES[kind];
    const until = `${new Date(ends).toISOString().slice(0, 19)}Z`;
    const told = {
      price: String(price),
      spent: String(spent),
      limit: String(limit),
      ...(kind === "host" && { host: limitHost(host) }),
      ...(kind === "tool" && tool !== null && { tool }),
    };
    if (price > limit)
      throw new PurchaseError(
        code,
        `the price is ${price} base units, but the limit is ${limit} base units ${of}`,
        told,
      );
    throw new PurchaseError(
      code,
      `the price is ${price} base units, but ${spent} base units of the ${limit} base units allowed ${of} are spent or ` +
        `reserved; ${rest(limit, spent)} base units are left until ${until}`,
      { ...told, until },
    );
  }
}

const rest = (limit: bigint, spent: bigint): bigint => (spent < limit ? limit - spent : 0n);

/**
 * Checks whether a price is within the limits now, for example before a person is asked. Reserves nothing: the payment
 * itself checks again.
 * @throws PurchaseError REQUEST_LIMIT_EXCEEDED, DAY_LIMIT_EXCEEDED, HOST_LIMIT_EXCEEDED, TOOL_LIMIT_EXCEEDED,
 *   HOUR_LIMIT_EXCEEDED
 */
export async function assertSpendable(
  store: Store,
  limits: SpendingLimits,
  price: bigint,
  { now, host }: { readonly now: number; readonly host: string },
): Promise<void> {
  assertWithinLimit(limits, price);
  const place = reservationAt(now, host, limits);
  assertRoom(price, await readCounts(store, limits, place), place);
}

/**
 * Returns the writes that reserve a price, for the batch that begins the purchase. They fail if the counters changed in
 * the meantime, so that two concurrent payments cannot both spend the remainder of a limit.
 * @throws PurchaseError as `assertSpendable`
 */
export async function reserve(
  store: Store,
  limits: SpendingLimits,
  price: bigint,
  place: Reservation,
): Promise<StoreChange[]> {
  assertWithinLimit(limits, price);
  const counters = await readCounts(store, limits, place);
  assertRoom(price, counters, place);
  return counters.map(({ key, spent, version }) => ({ put: key, value: String(spent + price), expected: version }));
}

/** Returns the writes that release a reserved price. The caller ensures that the purchase can never be paid. */
export async function release(store: Store, price: bigint, place: Reservation): Promise<StoreChange[]> {
  const counters = await readCounts(store, {}, place);
  return counters.map(({ key, spent, version }) => ({
    put: key,
    value: String(rest(spent, price)),
    expected: version,
  }));
}

/** Base units spent or reserved on the day of `now` (UTC), in total or for one host. */
export async function spentOn(store: Store, now: number, host?: string): Promise<bigint> {
  const counters = await readCounts(store, {}, reservationAt(now, host ?? "", {}));
  const wanted = host === undefined ? "day" : "host";
  return counters.find(({ kind }) => kind === wanted)!.spent;
}

/** What is left of limits, base units; undefined for those that are not set. */
export interface SpendingLeft {
  /** Of the hour. */
  readonly hour: bigint | undefined;
  /** Of the day. */
  readonly day: bigint | undefined;
  /** Of the day, for the host. */
  readonly host: bigint | undefined;
  /** Of the day, for the tool. */
  readonly tool: bigint | undefined;
  /** When the hour ends, ms. */
  readonly hourEnds: number;
  /** When the day ends, ms. */
  readonly dayEnds: number;
}

/**
 * What is left of these limits at `now` (ms) for this host: the smaller of what is left for payments and for requests that are paid
 * with tokens. Reserves nothing.
 */
export async function spendingLeft(
  store: Store,
  limits: SpendingLimits,
  { now, host }: { readonly now: number; readonly host: string },
): Promise<SpendingLeft> {
  const place = reservationAt(now, host, limits);
  const payments = await readCounts(store, limits, place);
  const charges = await readCounts(store, limits, place, CHARGES);
  const of = (wanted: Count["kind"], counters = payments) => counters.find(({ kind }) => kind === wanted);
  const left = (wanted: Count["kind"]) => {
    const { limit, spent = 0n } = of(wanted) ?? {};
    const { spent: charged = 0n } = of(wanted, charges) ?? {};
    const chargedMore = charged > spent;
    return limit === undefined ? undefined : rest(limit, chargedMore ? charged : spent);
  };
  return {
    hour: left("hour"),
    day: left("day"),
    host: left("host"),
    tool: left("tool"),
    hourEnds: of("hour")!.ends,
    dayEnds: of("day")!.ends,
  };
}
