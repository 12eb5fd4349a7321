/**
 * Multi-scalar multiplication by buckets (Pippenger), with affine points only. Bases are fixed and few (10^4), so the
 * additions dominate the cost: they are grouped into large batches for the kernel.
 */
import type { Term } from "../curve.ts";
import { BatchAdder, type Lists, MAX_STEPS } from "./batch-sums.ts";
import { type Digits, digitBits, windowsOf } from "./digits.ts";
import type { Kernel } from "./kernel.ts";
import { type Degree, ENTRY_BYTES, LIST_BYTES, pointBytes, scratchBytes } from "./layout.ts";
import { exportPoints } from "./points.ts";

export interface Task {
  /** Address of the first point; the others follow. */
  readonly points: number;
  /** Number of points. */
  readonly count: number;
  /** Address of the number of each point's scalar, 32 bits each. */
  readonly indices: number;
  readonly digits: Digits;
  /** The windows to sum. Default: all. */
  readonly share?: Share | undefined;
}

/**
 * Shares a task with another thread: each sums the groups of windows that it claims.
 * @returns the number of the next group; the others have taken all lower ones
 */
export type Share = () => number;

/** The buckets of a window: the address of bucket 0, and their number. */
interface Window {
  readonly position: number;
  readonly buckets: number;
  readonly length: number;
}

/** Number of digits per batch, so that their sums fit into the processor's cache. */
const GROUP_DIGITS = 1 << 15;
/**
 * Windows in a group that threads share, at most. With few, the thread that ends first does not wait long; with more, a batch of
 * additions is larger.
 */
const MAX_SHARED_WINDOWS = 2;
/**
 * From this number of buckets on, the windows so far are summed before the next ones begin, so that these use the same memory. With
 * fewer, the last additions of each sum would be batches of too few.
 */
const MAX_BUCKETS = 1 << 15;

/**
 * Returns at most about 250 terms for each sum of windows. Together they are the task's result, or that of its share; the caller adds
 * them up with doublings. The kernel's memory is released: the next sum uses the same, because a page of memory costs the most when it
 * is first touched.
 */
export function multiply(kernel: Kernel, degree: Degree, task: Task): Term[] {
  const mark = kernel.mark();
  const terms: Term[] = [];
  const claim = claimOf(task);
  for (;;) {
    const adder = new BatchAdder(kernel, degree);
    const windows = bucketSums(kernel, degree, adder, task, claim);
    if (windows.length === 0) break;
    terms.push(...exportTerms(kernel, degree, weightedSums(kernel, adder, windows)));
    kernel.release(mark);
  }
  kernel.release(mark);
  return terms;
}

/** The sum of a window's bucket or of smaller weights, and how many times it is doubled. */
interface Weighted {
  readonly position: number;
  readonly address: number;
}

function exportTerms(kernel: Kernel, degree: Degree, sums: readonly Weighted[]): Term[] {
  const points = exportPoints(
    kernel,
    degree,
    sums.map(({ address }) => address),
  );
  const size = points.length / sums.length;
  return sums.map(({ position }, index) => ({ position, point: points.subarray(index * size, (index + 1) * size) }));
}

/** About the memory that the digits of so many scalars and a sum in G1 take, or half of one in G2, bytes. */
export function sumBytes(scalars: number): number {
  const bits = digitBits(scalars);
  const windows = windowsOf(bits);
  const entries = Math.min(Math.max(GROUP_DIGITS, scalars), windows * scalars);
  // The buckets, as many of smaller weights, and the first round of a group's additions.
  const buckets = Math.min(windows * 2 ** (bits - 1), MAX_BUCKETS);
  return (
    (2 * buckets + entries / 2) * pointBytes(1) +
    MAX_STEPS * scratchBytes(1) +
    (entries + windows * scalars) * ENTRY_BYTES
  );
}

/** Takes the next windows. @returns the first and their number: 0 at the end */
type Claim = () => { readonly first: number; readonly group: number };

function claimOf({ digits, count, share }: Task): Claim {
  const [most, buckets] = [GROUP_DIGITS / Math.max(1, count), MAX_BUCKETS / 2 ** (digits.bits - 1)];
  const fitting = Math.max(1, Math.floor(Math.min(most, buckets)));
  const windows = share === undefined ? fitting : Math.min(fitting, MAX_SHARED_WINDOWS);
  let next = 0;
  const number = share ?? (() => next++);
  return () => {
    const first = windows * number();
    return { first, group: Math.max(0, Math.min(windows, digits.windows - first)) };
  };
}

/** Claims and sums windows until there are enough buckets. */
function bucketSums(kernel: Kernel, degree: Degree, adder: BatchAdder, task: Task, claim: Claim): Window[] {
  const { bits } = task.digits;
  const half = 1 << (bits - 1);
  const bytes = pointBytes(degree);
  const windows: Window[] = [];
  while (windows.length * half < MAX_BUCKETS) {
    const { first, group } = claim();
    if (group === 0) break;
    // Bucket 0 of each window is unused, and one zero follows the last.
    const stride = (half + 2) * ENTRY_BYTES;
    const buckets = kernel.allocate(group * stride);
    kernel.bytes(buckets, group * stride).fill(0);
    const home = kernel.allocate(group * half * bytes);
    const mark = kernel.mark();
    const lists = sortIntoBuckets(kernel, task, bytes, first, group);
    adder.sum(lists);
    for (let window = 0; window < group; window++) {
      const [own, to] = [lists.start + window * half * LIST_BYTES, buckets + window * stride];
      const [end, place] = [own + half * LIST_BYTES, home + window * half * bytes];
      kernel.call("collect", own, end, to + ENTRY_BYTES, mark, place, bytes);
      windows.push({ position: (first + window) * bits, buckets: to, length: half + 1 });
    }
    kernel.release(mark);
  }
  return windows;
}

/** Sorts the points of a group of windows by the size of their digit: one list for each bucket. */
function sortIntoBuckets(kernel: Kernel, task: Task, bytes: number, first: number, group: number): Lists {
  const { points, indices, count, digits } = task;
  const half = 1 << (digits.bits - 1);
  const start = kernel.allocate(group * half * LIST_BYTES);
  const end = start + group * half * LIST_BYTES;
  kernel.bytes(start, end - start).fill(0);
  const last = indices + count * ENTRY_BYTES;
  const each = (visit: (values: number, lists: number) => void): void => {
    for (let window = 0; window < group; window++)
      visit(digits.values + (first + window) * digits.count * ENTRY_BYTES, start + window * half * LIST_BYTES);
  };
  each((values, lists) => kernel.call("count", values, indices, last, lists));
  const addresses = kernel.allocate(group * count * ENTRY_BYTES);
  const entries = (kernel.call("reserve", start, end, addresses) - addresses) / ENTRY_BYTES;
  each((values, lists) => kernel.call("place", values, indices, last, lists, points, bytes));
  return { start, end, entries };
}

/**
 * Sum of weight·bucket, without doublings and in few rounds: the buckets of odd weight are summed, neighbours 2m and 2m
 * + 1 are added into a bucket of weight m that counts twice, and so on: 2 additions per bucket in total.
 */
function weightedSums(kernel: Kernel, adder: BatchAdder, windows: readonly Window[]): Weighted[] {
  const levels: Window[] = [];
  for (let level = windows; level.length > 0; level = halve(kernel, adder, level)) levels.push(...level);
  const start = kernel.allocate(levels.length * LIST_BYTES);
  const end = start + levels.length * LIST_BYTES;
  const addresses = kernel.allocate(levels.reduce((sum, { length }) => sum + (length >> 1) * ENTRY_BYTES, 0));
  let entries = addresses;
  const records: number[] = [];
  for (const { buckets, length } of levels) {
    const next = kernel.call("odd", buckets, buckets + length * ENTRY_BYTES, entries);
    records.push(entries, (next - entries) / ENTRY_BYTES);
    entries = next;
  }
  kernel.words(start, records.length).set(records);
  adder.sum({ start, end, entries: (entries - addresses) / ENTRY_BYTES });
  const memory = kernel.words(0, kernel.buffer.byteLength / 4);
  return levels.flatMap(({ position }, index) => {
    if (records[2 * index + 1] === 0) return [];
    return [{ position, address: memory[(records[2 * index] as number) / ENTRY_BYTES] as number }];
  });
}

/** Buckets of half the weights: neighbours added in one batch over all windows. */
function halve(kernel: Kernel, adder: BatchAdder, windows: readonly Window[]): Window[] {
  const halved = windows
    .filter(({ length }) => length > 2)
    .map(({ position, buckets, length: from }) => {
      const length = (from + 1) >> 1;
      const own = kernel.allocate((length + 1) * ENTRY_BYTES);
      return { position: position + 1, buckets: own, length, from: buckets };
    });
  const pairs = adder.allocatePairs(halved.reduce((sum, { length }) => sum + length, 0));
  let last = pairs;
  for (const { from, buckets, length } of halved)
    last = kernel.call("halve", from, buckets, buckets + length * ENTRY_BYTES, last);
  let sum = adder.add(pairs, last);
  for (const { buckets, length } of halved)
    sum = kernel.call("fill", buckets, buckets + length * ENTRY_BYTES, sum, adder.pointBytes);
  return halved;
}
