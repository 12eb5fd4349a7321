/**
 * Multi-scalar multiplication by buckets (Pippenger), with affine points only. Bases are fixed and few (10^4), so the
 * additions dominate the cost: they are grouped into large batches for the kernel.
 */
import { BatchAdder, type Lists } from "./batch-sums.ts";
import type { Digits } from "./digits.ts";
import type { Kernel } from "./kernel.ts";
import { type Degree, pointBytes } from "./layout.ts";

export interface Task {
  /** Address of the first point; the others follow. */
  readonly points: number;
  readonly digits: Digits;
  /** The index of each point's scalar. Default: all, in order. */
  readonly indices?: Uint32Array | undefined;
}

/** 2^position times the point at the address (bit 0: negated). */
export interface Term {
  readonly position: number;
  readonly address: number;
}

/** Placeholder for the address of a sum that is not computed yet. */
const SUMMED = -1;
/** Number of digits per batch, so that their sums fit into the processor's cache. */
const GROUP_DIGITS = 1 << 15;

/**
 * @returns for each task about 250 terms whose sum is its result; the caller adds them up with doublings. They stay valid
 *   until the kernel's memory is released
 */
export function multiplyMany(kernel: Kernel, degree: Degree, tasks: readonly Task[]): Term[][] {
  const adder = new BatchAdder(kernel, degree);
  const windows = tasks.flatMap((task, index) =>
    bucketSums(kernel, degree, adder, task).map((buckets, window) => ({
      task: index,
      position: window * task.digits.bits,
      buckets,
    })),
  );
  return weightedSums(adder, windows, tasks.length);
}

/** For each window, the addresses of its buckets' sums in order of weight; 0 for an empty bucket. */
function bucketSums(kernel: Kernel, degree: Degree, adder: BatchAdder, task: Task): Int32Array[] {
  const { bits, windows } = task.digits;
  const count = task.indices?.length ?? task.digits.count;
  const half = 1 << (bits - 1);
  const bytes = pointBytes(degree);
  const kept = kernel.allocate(windows * half * bytes);
  const perGroup = Math.max(1, Math.floor(GROUP_DIGITS / Math.max(1, count)));
  const sums: Int32Array[] = [];
  for (let first = 0; first < windows; first += perGroup) {
    const group = Math.min(perGroup, windows - first);
    const mark = kernel.mark();
    const lists = sortIntoBuckets(task, bytes, first, group);
    adder.sum(lists);
    const memory = kernel.doubles(0, kernel.memory.buffer.byteLength / 8);
    for (let window = 0; window < group; window++) {
      const buckets = new Int32Array(half + 1);
      for (let weight = 1; weight <= half; weight++) {
        const list = window * half + weight - 1;
        if (lists.lengths[list] === 0) continue;
        let address = lists.addresses[lists.starts[list] as number] as number;
        if (address >= mark) {
          const home = kept + ((first + window) * half + weight - 1) * bytes;
          memory.copyWithin(home / 8, address / 8, (address + bytes) / 8);
          address = home;
        }
        buckets[weight] = address;
      }
      sums.push(buckets);
    }
    kernel.release(mark);
  }
  return sums;
}

/** Sorts the points of a group of windows by the size of their digit (counting sort); the address takes the sign. */
function sortIntoBuckets({ points, digits, indices }: Task, bytes: number, first: number, group: number): Lists {
  const { bits, values } = digits;
  const half = 1 << (bits - 1);
  const lengths = new Int32Array(group * half);
  const starts = new Int32Array(group * half);
  const used = indices ?? Uint32Array.from({ length: digits.count }, (_, index) => index);
  for (let window = 0; window < group; window++) {
    const [row, bucket] = [(first + window) * digits.count, window * half - 1];
    for (let point = 0; point < used.length; point++) {
      const digit = values[row + (used[point] as number)] as number;
      const list = bucket + (digit < 0 ? -digit : digit);
      if (digit !== 0) lengths[list] = (lengths[list] as number) + 1;
    }
  }
  let total = 0;
  for (let list = 0; list < lengths.length; list++) {
    starts[list] = total;
    total += lengths[list] as number;
  }
  const addresses = new Int32Array(total);
  const next = starts.slice();
  for (let window = 0; window < group; window++) {
    const [row, bucket] = [(first + window) * digits.count, window * half - 1];
    for (let point = 0; point < used.length; point++) {
      const digit = values[row + (used[point] as number)] as number;
      if (digit === 0) continue;
      const list = bucket + (digit < 0 ? -digit : digit);
      const place = next[list] as number;
      next[list] = place + 1;
      addresses[place] = (points + point * bytes) | (digit < 0 ? 1 : 0);
    }
  }
  return { addresses, starts, lengths };
}

interface Window {
  readonly task: number;
  readonly position: number;
  readonly buckets: Int32Array;
}

/**
 * Sum of weight·bucket, without doublings and in few rounds: the buckets of odd weight are summed, neighbours 2m and 2m
 * + 1 are added into a bucket of weight m that counts twice, and so on: 2 additions per bucket in total.
 */
function weightedSums(adder: BatchAdder, windows: readonly Window[], tasks: number): Term[][] {
  const odd: { task: number; position: number; start: number; length: number }[] = [];
  const flat: number[] = [];
  for (let level = windows; level.length > 0; level = halve(adder, level)) {
    for (const { task, position, buckets } of level) {
      const start = flat.length;
      for (let weight = 1; weight < buckets.length; weight += 2) {
        if (buckets[weight] !== 0) flat.push(buckets[weight] as number);
      }
      if (flat.length > start) odd.push({ task, position, start, length: flat.length - start });
    }
  }
  const addresses = Int32Array.from(flat);
  const starts = Int32Array.from(odd, ({ start }) => start);
  adder.sum({ addresses, starts, lengths: Int32Array.from(odd, ({ length }) => length) });
  const terms: Term[][] = Array.from({ length: tasks }, () => []);
  for (const { task, position, start } of odd) {
    terms[task]?.push({ position, address: addresses[start] as number });
  }
  return terms;
}

/** Buckets of half the weights: neighbours added in one batch over all windows. */
function halve(adder: BatchAdder, windows: readonly Window[]): Window[] {
  const halved = windows
    .filter(({ buckets }) => buckets.length > 2)
    .map(({ task, position, buckets }) => {
      return { task, position: position + 1, buckets: new Int32Array((buckets.length + 1) >> 1), from: buckets };
    });
  const most = halved.reduce((sum, { buckets }) => sum + buckets.length, 0);
  const pairs = new Int32Array(2 * most);
  let count = 0;
  for (const { from, buckets } of halved) {
    for (let weight = 1; weight < buckets.length; weight++) {
      const [even, odd] = [from[2 * weight] ?? 0, from[2 * weight + 1] ?? 0];
      if (even !== 0 && odd !== 0) {
        pairs[2 * count] = even;
        pairs[2 * count + 1] = odd;
        count++;
        buckets[weight] = SUMMED;
      } else buckets[weight] = even === 0 ? odd : even;
    }
  }
  let sum = count === 0 ? 0 : adder.add(pairs.subarray(0, 2 * count), count);
  for (const { buckets } of halved) {
    for (let weight = 1; weight < buckets.length; weight++) {
      if (buckets[weight] !== SUMMED) continue;
      buckets[weight] = sum;
      sum += adder.pointBytes;
    }
  }
  return halved;
}
