// Adds up the store of prepaid tokens, so that the operator sees whether it created value.
import { changeOf, decodeMeteredRule, type MeteredRule } from "../../index.ts";
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

/** What became of the tokens that were spent for metered requests and in swaps, base units. */
export interface MeteredTotals {
  /** What requests that have ended were charged. */
  readonly charged: bigint;
  /** Change that was signed. */
  readonly changeSigned: bigint;
  /** Change that was not asked for yet. */
  readonly changeClaimable: bigint;
  /** The caps of requests that still run. Those whose deadline has passed cost their last checkpoint. */
  readonly running: bigint;
  /** Tokens that were exchanged for others. */
  readonly swapped: bigint;
}

export interface Audit extends MeteredTotals {
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
 * Adds up a store. The rows of a closed key are deleted after a day, so the tokens of closed keys are not compared with each
 * other. Tokens of a key that no schedule has are a problem, because their value is not known.
 * @param keys of the signed schedules
 * @throws DatabaseError
 */
export async function auditStore(store: PrepaidStore, keys: readonly Key[]): Promise<Audit> {
  const problems: string[] = [];
  const counts = new Map<string, Counts>();
  const countsOf = (id: string): Counts => {
    const found = counts.get(id) ?? { change: 0, metered: 0, swappedIn: 0, swappedOut: 0 };
    counts.set(id, found);
    return found;
  };
  const sums = { charged: 0n, changeSigned: 0n, changeClaimable: 0n, running: 0n, swapped: 0n };
  const read = await store.sums();
  for (const group of read.groups) {
    const [cap, charge, count] = [BigInt(group.cap), BigInt(group.charge), BigInt(group.count)];
    const rule = decodeMeteredRule(JSON.parse(group.rule));
    countsOf(group.key_id).metered += group.count;
    const wrong = wrongCharge(rule, cap, charge);
    if (wrong !== undefined) {
      problems.push(`requests that were ${wrong}: ${count}`);
      // Nothing can be said about their change.
      continue;
    }
    if (group.state === "running") sums.running += cap * count;
    else {
      sums.charged += charge * count;
      sums[group.signed ? "changeSigned" : "changeClaimable"] += (cap - charge) * count;
    }
    if (!group.signed) continue;
    if (group.state === "running") problems.push(`requests whose change was signed while they run: ${count}`);
    for (const value of changeOf(rule, charge)) {
      const key = keys.find((one) => one.value === value && one.epoch === group.change_epoch);
      if (key === undefined) problems.push(`no schedule has the key of ${value} in ${group.change_epoch}`);
      else countsOf(key.id).change += group.count;
    }
  }
  const valueOfKey = (id: string) => keys.find((key) => key.id === id)?.value;
  for (const { key_id, count, spent, swaps } of read.swaps) {
    const spentKeys = JSON.parse(spent) as readonly string[];
    countsOf(key_id).swappedIn += count * swaps;
    for (const id of spentKeys) countsOf(id).swappedOut += swaps;
    const [value, ...values] = [key_id, ...spentKeys].map(valueOfKey);
    // A key without a value is reported below.
    if (value === undefined || values.includes(undefined)) continue;
    const [sum, signed] = [(values as bigint[]).reduce((total, each) => total + each, 0n), value * BigInt(count)];
    sums.swapped += signed * BigInt(swaps);
    if (sum !== signed) problems.push(`swaps that spent ${sum} and signed ${signed}: ${swaps}`);
  }
  const totals = new Map(read.totals.map((each) => [each.keyId, each]));
  const closed = new Set(read.closed);
  const unknown = new Set([...counts.keys(), ...totals.keys()]);
  for (const { id } of keys) unknown.delete(id);
  for (const id of unknown) {
    const { swappedIn, metered, swappedOut } = countsOf(id);
    const { issued = 0, redeemed = 0 } = totals.get(id) ?? {};
    problems.push(
      `the key ${id} is in no schedule: ${issued + swappedIn} of its tokens were signed, ` +
        `${Math.max(redeemed, metered + swappedOut)} were spent`,
    );
  }
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

/** What is wrong with a charge; undefined if nothing is. */
function wrongCharge(rule: MeteredRule, cap: bigint, charge: bigint): string | undefined {
  if (cap !== rule.cap) return `paid with ${cap}, which is not the cap ${rule.cap} of their rule`;
  if (charge > cap) return `charged ${charge}, more than their cap ${cap}`;
  if (charge < 0n || charge % rule.grain !== 0n)
    return `charged ${charge}, which is not a multiple of their grain ${rule.grain}`;
  return undefined;
}

const isUsed = ({ sold, change, swappedIn, redeemed, metered, swappedOut }: KeyAudit): boolean =>
  [sold, change, swappedIn, redeemed, metered, swappedOut].some((sum) => sum !== 0n);
