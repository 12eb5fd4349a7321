/**
 * The part of multi-scalar multiplication that moves addresses: signed digits, and lists of points for each bucket. It is
 * part of a kernel because it is fast from the first call, unlike JavaScript, which is interpreted at first.
 *
 * A list is two words: the address of its entries and their number. An entry is the address of a point; bit 0 negates it.
 */
import type { Code, Local, ModuleBuilder } from "./assembler.ts";
import { either, i32, i64, increase, loop, v128, when } from "./instructions.ts";
import { ENTRY_BYTES, LIST_BYTES, SCALAR_BYTES } from "./layout.ts";

/** Written to a bucket whose sum is not computed yet. */
const SUMMED = i32.const(-1);

export function defineBuckets(module: ModuleBuilder): void {
  defineCompact(module);
  defineDigits(module);
  defineSorting(module);
  defineRounds(module);
  defineWeights(module);
}

const bytesOf = (entries: Code): Code => i32.shl(entries, i32.const(2));
const entriesOf = (list: Local): Code => i32.load(list.get);
const lengthOf = (list: Local): Code => i32.load(list.get, 4);
const setEntries = (list: Local, entries: Code): Code => i32.store(list.get, entries);
const setLength = (list: Local, length: Code): Code => i32.store(list.get, length, 4);

/**
 * compact(points, count, bytes, indices, first) -> number of the points that are not all zeros, which means infinity. They
 * move to the front, and their numbers, counted from `first`, go to `indices`, 32 bits each.
 */
function defineCompact(module: ModuleBuilder): void {
  module.define(
    "compact",
    ["i32", "i32", "i32", "i32", "i32"],
    (f) => {
      const [points, count, bytes, indices, first] = f.params as [Local, Local, Local, Local, Local];
      const [to, from, stop, kept] = f.locals("i32", 4) as [Local, Local, Local, Local];
      const any = f.local("v128");
      return [
        from.set(points.get),
        to.set(points.get),
        loop(
          count.get,
          stop.set(i32.add(from.get, bytes.get)),
          any.set(v128.load(from.get)),
          loop(
            i32.ltU(from.get, stop.get),
            any.set(v128.or(any.get, v128.load(from.get))),
            v128.store(to.get, v128.load(from.get)),
            increase(from, 16),
            increase(to, 16),
          ),
          // The next point overwrites one at infinity.
          to.set(either(v128.anyTrue(any.get), to.get, i32.sub(to.get, bytes.get))),
          when(
            v128.anyTrue(any.get),
            i32.store(indices.get, first.get),
            increase(indices, ENTRY_BYTES),
            increase(kept, 1),
          ),
          increase(first, 1),
          increase(count, -1),
        ),
        kept.get,
      ];
    },
    ["i32"],
  );
}

/**
 * digits(scalars, count, bits, windows, values): scalars of 32 bytes below 2^254, as signed digits from -(2^(bits-1) - 1)
 * to 2^(bits-1). Digit w of scalar i goes to values[w·count + i], 32 bits each, least significant window first.
 */
function defineDigits(module: ModuleBuilder): void {
  module.define("digits", ["i32", "i32", "i32", "i32", "i32"], (f) => {
    const [scalars, count, bits, windows, values] = f.params as [Local, Local, Local, Local, Local];
    const [end, left, position, carry, digit, to, at] = f.locals("i32", 7) as [
      ...[Local, Local, Local, Local],
      ...[Local, Local, Local],
    ];
    const one = i32.const(1);
    const mask = i32.sub(i32.shl(one, bits.get), one);
    const half = i32.shl(one, i32.sub(bits.get, one));
    // 64 bits that contain the digit: from the 32-bit word in which it begins, or else the scalar's last.
    const word = i32.shl(i32.shrU(position.get, i32.const(5)), i32.const(2));
    const last = i32.const(SCALAR_BYTES - 8);
    const shift = i32.sub(position.get, i32.shl(at.get, i32.const(3)));
    const bitsAt = i64.shrU(i64.load(i32.add(scalars.get, at.get)), i64.extend(shift));
    return [
      end.set(i32.add(scalars.get, i32.shl(count.get, i32.const(5)))),
      loop(
        i32.ltU(scalars.get, end.get),
        [to.set(values.get), left.set(windows.get), position.set(i32.const(0)), carry.set(i32.const(0))],
        loop(
          left.get,
          at.set(either(i32.ltU(word, last), word, last)),
          digit.set(i32.add(i32.and(i32.wrap(bitsAt), mask), carry.get)),
          carry.set(i32.gtS(digit.get, half)),
          i32.store(to.get, i32.sub(digit.get, i32.shl(carry.get, bits.get))),
          increase(to, bytesOf(count.get)),
          increase(position, bits.get),
          increase(left, -1),
        ),
        increase(values, ENTRY_BYTES),
        increase(scalars, SCALAR_BYTES),
      ),
    ];
  });
}

/** A counting sort of the points by the size of their digit; list 0 is for digits 1 and -1. */
function defineSorting(module: ModuleBuilder): void {
  const size = (digit: Local): Code => {
    const sign = i32.shrS(digit.get, i32.const(31));
    return i32.sub(i32.xor(digit.get, sign), sign);
  };
  const listOf = (lists: Local, digit: Local): Code =>
    i32.add(lists.get, i32.shl(i32.sub(size(digit), i32.const(1)), i32.const(3)));
  const digitAt = (values: Local, indices: Local): Code =>
    i32.load(i32.add(values.get, bytesOf(i32.load(indices.get))));

  // count(values, indices, end, lists): adds the number of points of each digit to the lengths.
  module.define("count", ["i32", "i32", "i32", "i32"], (f) => {
    const [values, indices, end, lists] = f.params as [Local, Local, Local, Local];
    const [digit, list] = f.locals("i32", 2) as [Local, Local];
    return loop(
      i32.ltU(indices.get, end.get),
      digit.set(digitAt(values, indices)),
      when(digit.get, list.set(listOf(lists, digit)), setLength(list, i32.add(lengthOf(list), i32.const(1)))),
      increase(indices, ENTRY_BYTES),
    );
  });

  // reserve(lists, end, entries) -> end of the entries: gives each list memory for its length, and empties it.
  module.define(
    "reserve",
    ["i32", "i32", "i32"],
    (f) => {
      const [lists, end, entries] = f.params as [Local, Local, Local];
      return [
        loop(
          i32.ltU(lists.get, end.get),
          setEntries(lists, entries.get),
          increase(entries, bytesOf(lengthOf(lists))),
          setLength(lists, i32.const(0)),
          increase(lists, LIST_BYTES),
        ),
        entries.get,
      ];
    },
    ["i32"],
  );

  // place(values, indices, end, lists, point, bytes): appends each point to the list of its digit.
  module.define("place", ["i32", "i32", "i32", "i32", "i32", "i32"], (f) => {
    const [values, indices, end, lists, point, bytes] = f.params as [Local, Local, Local, Local, Local, Local];
    const [digit, list] = f.locals("i32", 2) as [Local, Local];
    const negative = i32.shrU(digit.get, i32.const(31));
    return loop(
      i32.ltU(indices.get, end.get),
      digit.set(digitAt(values, indices)),
      when(
        digit.get,
        list.set(listOf(lists, digit)),
        i32.store(i32.add(entriesOf(list), bytesOf(lengthOf(list))), i32.or(point.get, negative)),
        setLength(list, i32.add(lengthOf(list), i32.const(1))),
      ),
      increase(point, bytes.get),
      increase(indices, ENTRY_BYTES),
    );
  });
}

/** The rounds that halve all lists: gather, add the pairs, replace. Then each list has one entry or none. */
function defineRounds(module: ModuleBuilder): void {
  // gather(lists, end, pairs) -> end of the pairs: the entries of all lists, without the last of an odd number.
  module.define(
    "gather",
    ["i32", "i32", "i32"],
    (f) => {
      const [lists, end, pairs] = f.params as [Local, Local, Local];
      const [from, stop] = f.locals("i32", 2) as [Local, Local];
      const even = i32.and(lengthOf(lists), i32.const(-2));
      return [
        loop(
          i32.ltU(lists.get, end.get),
          from.set(entriesOf(lists)),
          stop.set(i32.add(from.get, bytesOf(even))),
          loop(
            i32.ltU(from.get, stop.get),
            i32.store(pairs.get, i32.load(from.get)),
            increase(from, ENTRY_BYTES),
            increase(pairs, ENTRY_BYTES),
          ),
          increase(lists, LIST_BYTES),
        ),
        pairs.get,
      ];
    },
    ["i32"],
  );

  // replace(lists, end, sum, bytes): each pair by its sum; the sums are one after the other.
  module.define("replace", ["i32", "i32", "i32", "i32"], (f) => {
    const [lists, end, sum, bytes] = f.params as [Local, Local, Local, Local];
    const [length, to, stop] = f.locals("i32", 3) as [Local, Local, Local];
    const half = i32.shrU(length.get, i32.const(1));
    const last = i32.load(i32.add(entriesOf(lists), bytesOf(i32.sub(length.get, i32.const(1)))));
    return loop(
      i32.ltU(lists.get, end.get),
      length.set(lengthOf(lists)),
      when(
        half,
        to.set(entriesOf(lists)),
        stop.set(i32.add(to.get, bytesOf(half))),
        loop(
          i32.ltU(to.get, stop.get),
          i32.store(to.get, sum.get),
          increase(sum, bytes.get),
          increase(to, ENTRY_BYTES),
        ),
        when(i32.and(length.get, i32.const(1)), i32.store(to.get, last)),
        setLength(lists, i32.sub(length.get, half)),
      ),
      increase(lists, LIST_BYTES),
    );
  });

  /*
   * collect(lists, end, buckets, temporary, home, bytes): the only entry of each list, 0 if it is empty. Points from the
   * address `temporary` on are copied to `home`, where each list has room for one.
   */
  module.define("collect", ["i32", "i32", "i32", "i32", "i32", "i32"], (f) => {
    const [lists, end, buckets, temporary, home, bytes] = f.params as [Local, Local, Local, Local, Local, Local];
    const [point, from, to, stop] = f.locals("i32", 4) as [Local, Local, Local, Local];
    return loop(
      i32.ltU(lists.get, end.get),
      point.set(i32.const(0)),
      when(lengthOf(lists), point.set(i32.load(entriesOf(lists)))),
      when(
        i32.geU(point.get, temporary.get),
        [from.set(point.get), to.set(home.get), stop.set(i32.add(home.get, bytes.get))],
        loop(i32.ltU(to.get, stop.get), v128.store(to.get, v128.load(from.get)), increase(from, 16), increase(to, 16)),
        point.set(home.get),
      ),
      i32.store(buckets.get, point.get),
      increase(buckets, ENTRY_BYTES),
      increase(home, bytes.get),
      increase(lists, LIST_BYTES),
    );
  });
}

/** The sum of weight·bucket, where bucket w is at buckets + 4·w; 0 means an empty one, and one more 0 follows the last. */
function defineWeights(module: ModuleBuilder): void {
  // odd(buckets, end, entries) -> end of the entries: the buckets of odd weight that are not empty.
  module.define(
    "odd",
    ["i32", "i32", "i32"],
    (f) => {
      const [buckets, end, entries] = f.params as [Local, Local, Local];
      const bucket = i32.load(buckets.get, ENTRY_BYTES);
      return [
        loop(
          i32.ltU(i32.add(buckets.get, i32.const(ENTRY_BYTES)), end.get),
          when(bucket, i32.store(entries.get, bucket), increase(entries, ENTRY_BYTES)),
          increase(buckets, 2 * ENTRY_BYTES),
        ),
        entries.get,
      ];
    },
    ["i32"],
  );

  /*
   * halve(buckets, to, end, pairs) -> end of the pairs: neighbours 2w and 2w + 1 become bucket w of `to`, which ends at
   * `end`. If neither is empty, they are appended to the pairs, and bucket w must be summed.
   */
  module.define(
    "halve",
    ["i32", "i32", "i32", "i32"],
    (f) => {
      const [buckets, to, end, pairs] = f.params as [Local, Local, Local, Local];
      const [even, odd] = f.locals("i32", 2) as [Local, Local];
      const isPair = i32.and(i32.gtS(even.get, i32.const(0)), i32.gtS(odd.get, i32.const(0)));
      return [
        i32.store(to.get, i32.const(0)),
        increase(to, ENTRY_BYTES),
        loop(
          i32.ltU(to.get, end.get),
          increase(buckets, 2 * ENTRY_BYTES),
          even.set(i32.load(buckets.get)),
          odd.set(i32.load(buckets.get, ENTRY_BYTES)),
          i32.store(to.get, i32.or(even.get, odd.get)),
          when(
            isPair,
            i32.store(pairs.get, even.get),
            i32.store(pairs.get, odd.get, ENTRY_BYTES),
            increase(pairs, 2 * ENTRY_BYTES),
            i32.store(to.get, SUMMED),
          ),
          increase(to, ENTRY_BYTES),
        ),
        i32.store(to.get, i32.const(0)),
        pairs.get,
      ];
    },
    ["i32"],
  );

  // fill(buckets, end, sum, bytes) -> end of the sums: gives the buckets that must be summed their sums.
  module.define(
    "fill",
    ["i32", "i32", "i32", "i32"],
    (f) => {
      const [buckets, end, sum, bytes] = f.params as [Local, Local, Local, Local];
      return [
        loop(
          i32.ltU(buckets.get, end.get),
          when(i32.eq(i32.load(buckets.get), SUMMED), i32.store(buckets.get, sum.get), increase(sum, bytes.get)),
          increase(buckets, ENTRY_BYTES),
        ),
        sum.get,
      ];
    },
    ["i32"],
  );
}
