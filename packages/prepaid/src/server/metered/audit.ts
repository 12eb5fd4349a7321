// Adds up what the store of prepaid tokens says, so that an operator sees that no value was created.
import { changeOf, decodeMeteredRule } from "../../index.ts";
import type { Key } from "../keyring.ts";
import type { PrepaidStore } from "../store.ts";

/** The tokens of one key, base units. */
export interface KeyAudit {
  /** Id of the key, hex with 0x. */
  readonly key: string;
  /** UTC month, `YYYY-MM`. */
  readonly epoch: string;
  /** Value of one token. */
  readonly value: bigint;
  /** Signed in packs. */
  readonly sold: bigint;
  /** Signed as change of metered requests. */
  readonly change: bigint;
  /** Signed in swaps. */
  readonly swappedIn: bigint;
  /** Spent for exact prices. */
  readonly redeemed: bigint;
  /** Spent for metered requests: charges, change and what still runs. */
  readonly metered: bigint;
  /** Spent in swaps. */
  readonly swappedOut: bigint;
  /** Not spent. */
  readonly unspent: bigint;
}

/** What became of the tokens that were spent for metered requests, base units. */
export interface MeteredAudit {
  readonly charged: bigint;
  readonly changeSigned: bigint;
  readonly changeClaimable: bigint;
  readonly running: bigint;
}

export interface Audit extends MeteredAudit {
  readonly keys: readonly KeyAudit[];
  /** What contradicts the sums; empty for an honest store. */
  readonly problems: readonly string[];
}

/** Numbers of tokens of one key. */
interface Counts {
  change: number;
  metered: number;
  swappedIn: number;
  swappedOut: number;
}

/**
 * Adds up a store. Tokens whose rows were deleted, a day after their key was closed, are not in it, so the tokens of a closed
 * key are not compared with each other.
 * @param keys of the signed schedules
 * @throws DatabaseError
 */
export async function auditStore(store: PrepaidStore, keys: readonly Key[]): Promise<Audit> {
  const problems: string[] = [];
  const counts = new Map<string, Counts>(
    keys.map(({ id }) => [id, { change: 0, metered: 0, swappedIn: 0, swappedOut: 0 }]),
  );
  const countsOf = (id: string): Counts => {
    const found = counts.get(id);
    if (found !== undefined) return found;
    problems.push(`the key ${id} is in no schedule`);
    const added = { change: 0, metered: 0, swappedIn: 0, swappedOut: 0 };
    counts.set(id, added);
    return added;
  };
  const sums = { charged: 0n, changeSigned: 0n, changeClaimable: 0n, running: 0n };
  const read = await store.sums();
  for (const group of read.groups) {
    const [cap, charge, count] = [BigInt(group.cap), BigInt(group.charge), BigInt(group.count)];
    countsOf(group.key_id).metered += group.count;
    if (charge > cap) problems.push(`${count} requests were charged ${charge}, more than their cap ${cap}`);
    if (group.state === "running") sums.running += cap * count;
    else {
      sums.charged += charge * count;
      sums[group.signed ? "changeSigned" : "changeClaimable"] += (cap - charge) * count;
    }
    if (!group.signed) continue;
    if (group.state === "running") problems.push(`the change of ${count} requests was signed while they run`);
    for (const value of changeOf(decodeMeteredRule(JSON.parse(group.rule)), charge)) {
      const key = keys.find((one) => one.value === value && one.epoch === group.change_epoch);
      if (key === undefined) problems.push(`no schedule has the key of ${value} in ${group.change_epoch}`);
      else countsOf(key.id).change += group.count;
    }
  }
  const worthOf = (id: string) => keys.find((key) => key.id === id)?.value ?? 0n;
  for (const { key_id, count, spent, swaps } of read.swaps) {
    const spentKeys = JSON.parse(spent) as readonly string[];
    countsOf(key_id).swappedIn += count * swaps;
    for (const id of spentKeys) countsOf(id).swappedOut += swaps;
    const sum = spentKeys.reduce((total, id) => total + worthOf(id), 0n);
    if (sum !== worthOf(key_id) * BigInt(count))
      problems.push(`${swaps} swaps spent ${sum} and signed ${worthOf(key_id) * BigInt(count)}`);
  }
  const totals = new Map(read.totals.map((each) => [each.keyId, each]));
  const closed = new Set(read.closed);
  const audited = keys.map(({ id, epoch, value }): KeyAudit => {
    const { change, metered, swappedIn, swappedOut } = countsOf(id);
    const { issued = 0, redeemed: spent = 0 } = totals.get(id) ?? {};
    // Rows of a closed key may be deleted already.
    const least = closed.has(id) ? 0 : Number.NEGATIVE_INFINITY;
    const redeemed = Math.max(least, spent - metered - swappedOut);
    const unspent = Math.max(least, issued + change + swappedIn - spent);
    if (unspent < 0) problems.push(`${-unspent} more tokens of ${value} in ${epoch} were spent than signed`);
    if (redeemed < 0)
      problems.push(`${-redeemed} tokens of ${value} in ${epoch} are metered or swapped, but not spent`);
    const worth = (tokens: number) => value * BigInt(tokens);
    return {
      ...{ key: id, epoch, value, sold: worth(issued), change: worth(change), swappedIn: worth(swappedIn) },
      ...{ redeemed: worth(redeemed), metered: worth(metered), swappedOut: worth(swappedOut), unspent: worth(unspent) },
    };
  });
  return { ...sums, keys: audited.filter(isUsed), problems };
}

const isUsed = ({ sold, change, swappedIn, redeemed, metered, swappedOut }: KeyAudit): boolean =>
  [sold, change, swappedIn, redeemed, metered, swappedOut].some((sum) => sum !== 0n);
