import {
  assertViewingKeys,
  MONTH_MARGIN_MS,
  type Month,
  monthStart,
  monthsNear,
  payableMonths,
  type ViewingKey,
  type ViewingKeys,
  type WalletKeys,
} from "@sotto/protocol";

/** A key, and the month of its address; no month: the lasting address. */
export interface KeyOf<Key> {
  /** Undefined for the lasting address. */
  readonly month: Month | undefined;
  /** A viewing key or a change key. */
  readonly key: Key;
}

/** The keys of payments that a search found, by leaf index. */
export type LateKeys = ReadonlyMap<number, KeyOf<bigint>>;

/** The keys with which the events of a block are read. Blocks that need the same keys share one object. */
export interface BlockKeys {
  /** Each payment is tried with all of them: odd, in [1, l). */
  readonly viewing: readonly KeyOf<bigint>[];
  /** Change and outputs are tried with these, in this order. */
  readonly change: readonly KeyOf<bigint>[];
}

/** The keys of a scan. */
export interface ScanKeys {
  /** Tag 0, which belongs to all of the wallet's addresses. */
  readonly ownerTag: bigint;
  /**
   * Months, "months" for all of them, "lasting", and the change of each. Each comes with the time of the first block that it may
   * open, seconds: a scan that gains one begins again there.
   */
  readonly names: ReadonlyMap<string, number>;
  /** The keys for a block. @param timestamp of the block, seconds */
  at(timestamp: number): BlockKeys;
  /**
   * The viewing keys of all addresses that may exist.
   * @param since when the pool was deployed, seconds; no address is older
   * @param now seconds
   */
  all(since: number, now: number): readonly KeyOf<bigint>[];
  /** The viewing key of one address; undefined if it was not given. */
  of(month: Month | undefined): KeyOf<bigint> | undefined;
  /** Keys of a wallet that can spend. Default: none, for a viewing wallet. */
  readonly keys?: WalletKeys | undefined;
}

/**
 * The months of proofs that may settle now: a withdrawal is valid for a day, so the month before is one of them. The first month
 * has none before it.
 */
const changeMonths = (months: readonly Month[]): Month[] => [
  ...new Set([...months, ...months.slice(0, 1).flatMap((month) => monthsNear(monthStart(month) - 1))]),
];

/** Whether a payment settled outside the time of its address, so that a scan does not find it, but a search does. */
export const isOutsideMonth = ({
  month,
  timestamp,
}: {
  readonly month?: Month | undefined;
  readonly timestamp: number;
}): boolean => month !== undefined && !monthsNear(1000 * timestamp).includes(month);

/** The time of the first block that may have payments to the address of a month, seconds. */
const firstTimeOf = (month: Month): number => (monthStart(month) - MONTH_MARGIN_MS) / 1000;

/** Returns the object that was made for these months before. */
function shared(make: (months: readonly Month[]) => BlockKeys): (timestamp: number) => BlockKeys {
  const made = new Map<string, BlockKeys>();
  return (timestamp) => {
    const months = monthsNear(1000 * timestamp);
    const name = months.join();
    const keys = made.get(name) ?? make(months);
    made.set(name, keys);
    return keys;
  };
}

/**
 * The keys of a wallet that can spend. A payment is tried with the keys of its block's month and of the lasting address.
 * @param lasting whether the lasting address was ever handed out; if not, scanning takes half as long
 */
export function walletScanKeys(keys: WalletKeys, lasting: boolean): ScanKeys {
  const lastingViewing = { month: undefined, key: keys.viewingKey };
  const lastingChange = { month: undefined, key: keys.changeKey };
  const viewing = (month: Month) => ({ month, key: keys.ofMonth(month).viewingKey });
  const change = (month: Month) => ({ month, key: keys.ofMonth(month).changeKey });
  return {
    ownerTag: keys.ownerTag(0),
    names: new Map([["months", 0], ...(lasting ? [["lasting", 0] as const] : [])]),
    keys,
    at: shared((months) => ({
      viewing: [...months.map(viewing), ...(lasting || months.length === 0 ? [lastingViewing] : [])],
      change: [...changeMonths(months).map(change), lastingChange],
    })),
    all(since, now) {
      return [...payableMonths(1000 * since, 1000 * now).map(viewing), lastingViewing];
    },
    of: (month) => (month === undefined ? lastingViewing : viewing(month)),
  };
}

/** The names of what a scan tries with a key. A change key may be added to a month that was read without it. */
function namesOf({ month, changeKey }: ViewingKey): [string, number][] {
  const [name, since] = month === undefined ? ["lasting", 0] : [month, firstTimeOf(month)];
  return [[name, since], ...(changeKey === undefined ? [] : [[`change ${name}`, since] satisfies [string, number]])];
}

/** The keys of a viewing wallet. Outside the years 2020 to 2099 each payment is tried with all keys. */
export function viewingScanKeys(given: ViewingKeys): ScanKeys {
  const { ownerTag, keys } = assertViewingKeys(given);
  const viewing = keys.map(({ month, viewingKey }) => ({ month, key: viewingKey }));
  const change = keys.flatMap(({ month, changeKey }) => (changeKey === undefined ? [] : [{ month, key: changeKey }]));
  const all = { viewing, change };
  const isOf = (months: readonly Month[]) => (each: KeyOf<bigint>) =>
    each.month === undefined || months.includes(each.month);
  return {
    ownerTag,
    names: new Map(keys.flatMap(namesOf)),
    at: shared((months) =>
      months.length === 0
        ? all
        : { viewing: viewing.filter(isOf(months)), change: change.filter(isOf(changeMonths(months))) },
    ),
    all: () => all.viewing,
    of: (month) => all.viewing.find((each) => each.month === month),
  };
}
