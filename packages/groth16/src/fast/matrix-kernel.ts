/**
 * Makes the program of a circuit's matrices from a key's coefficients. It is part of a kernel because it is fast from the
 * first call, unlike JavaScript, which is interpreted at first.
 *
 * A coefficient of a key is eleven words: matrix (0 is A, 1 is B), row, variable, and its value in eight words. Most values
 * occur many times, so `index` stores each once and makes the coefficient three words: row (those of B follow those of A),
 * variable and number of the value.
 */
import type { Code, Local, ModuleBuilder } from "./assembler.ts";
import { either, i32, i64, increase, loop, when } from "./instructions.ts";
import { COEFFICIENT_BYTES, INDEXED_BYTES, ROW_STEP_BYTES, TABLE_BYTES } from "./layout.ts";

const VALUE = 12;
/** Longest search for a value. Without it, a key whose values all have the same hash would take hours. */
const MAX_PROBES = 32;

export function defineMatrices(module: ModuleBuilder): void {
  defineCheck(module);
  defineIndex(module);
  defineProgram(module);
  defineReverse(module);
}

/** outOfRange(coefficients, end, rows, variables) -> whether a matrix, row or variable is out of range. */
function defineCheck(module: ModuleBuilder): void {
  module.define(
    "outOfRange",
    ["i32", "i32", "i32", "i32"],
    (f) => {
      const [coefficients, end, rows, variables] = f.params as [Local, Local, Local, Local];
      const found = f.local("i32");
      const isOut = (offset: number, limit: Code): Code => i32.geU(i32.load(coefficients.get, offset), limit);
      return [
        loop(
          i32.ltU(coefficients.get, end.get),
          [isOut(0, i32.const(2)), isOut(4, rows.get), isOut(8, variables.get)].map((out) =>
            found.set(i32.or(found.get, out)),
          ),
          increase(coefficients, COEFFICIENT_BYTES),
        ),
        found.get,
      ];
    },
    ["i32"],
  );
}

/**
 * index(coefficients, end, rows, slots, mask, values, count, indexed) -> number of values. Writes each coefficient to
 * `indexed`, and its value to `values` if it is not there yet; `count` values are. `slots` is a hash table with open
 * addressing: a power of two of words, zero at first; `mask` is one less than that. A slot is 0 or a value's number plus 1.
 * Half of the slots stay empty: later values are not found again and stored each time, as are values whose search is long.
 */
function defineIndex(module: ModuleBuilder): void {
  module.define(
    "index",
    ["i32", "i32", "i32", "i32", "i32", "i32", "i32", "i32"],
    (f) => {
      const [coefficients, end, rows, slots] = f.params as [Local, Local, Local, Local];
      const [mask, values, count, indexed] = f.params.slice(4) as [Local, Local, Local, Local];
      const [hash, slot, place, known, probes] = f.locals("i32", 5) as [Local, Local, Local, Local, Local];
      const word = (index: number): Code => i64.load(coefficients.get, VALUE + 8 * index);
      const words = [0, 1, 2, 3];
      const valueAt = (number: Local): Code => i32.add(values.get, i32.shl(number.get, i32.const(5)));
      const isSame = words
        .map((index) => i64.eq(word(index), i64.load(known.get, 8 * index)))
        .reduce((all, next) => i32.and(all, next));
      const row = i32.add(i32.mul(i32.load(coefficients.get), rows.get), i32.load(coefficients.get, 4));
      return [
        loop(
          i32.ltU(coefficients.get, end.get),
          // Values are in Montgomery form, so their low words usually differ.
          hash.set(i32.mul(i32.load(coefficients.get, VALUE), i32.const(0x9e3779b1 | 0))),
          hash.set(i32.xor(hash.get, i32.shrU(hash.get, i32.const(16)))),
          place.set(i32.const(-1)),
          probes.set(i32.const(0)),
          loop(
            i32.eq(place.get, i32.const(-1)),
            slot.set(i32.add(slots.get, i32.shl(i32.and(hash.get, mask.get), i32.const(2)))),
            place.set(i32.sub(i32.load(slot.get), i32.const(1))),
            increase(probes, 1),
            // The new value takes the slot of another one, which is then not found again.
            place.set(either(i32.ltU(probes.get, i32.const(MAX_PROBES)), place.get, i32.const(-1))),
            when(
              i32.eq(place.get, i32.const(-1)),
              known.set(valueAt(count)),
              words.map((index) => i64.store(known.get, word(index), 8 * index)),
              place.set(count.get),
              increase(count, 1),
              when(i32.ltU(place.get, i32.shrU(mask.get, i32.const(1))), i32.store(slot.get, count.get)),
            ),
            known.set(valueAt(place)),
            place.set(either(isSame, place.get, i32.const(-1))),
            increase(hash, 1),
          ),
          i32.store(indexed.get, row),
          i32.store(indexed.get, i32.load(coefficients.get, 8), 4),
          i32.store(indexed.get, place.get, 8),
          increase(coefficients, COEFFICIENT_BYTES),
          increase(indexed, INDEXED_BYTES),
        ),
        count.get,
      ];
    },
    ["i32"],
  );
}

/** `next` has a word for each row of A, then for each row of B. */
function defineProgram(module: ModuleBuilder): void {
  const slotOf = (next: Local, indexed: Local): Code => i32.add(next.get, i32.shl(i32.load(indexed.get), i32.const(2)));

  // lengths(indexed, end, next): adds the number of each row's coefficients to its word.
  module.define("lengths", ["i32", "i32", "i32"], (f) => {
    const [indexed, end, next] = f.params as [Local, Local, Local];
    const slot = f.local("i32");
    return loop(
      i32.ltU(indexed.get, end.get),
      slot.set(slotOf(next, indexed)),
      i32.store(slot.get, i32.add(i32.load(slot.get), i32.const(1))),
      increase(indexed, INDEXED_BYTES),
    );
  });

  // starts(next, rows, counts) -> number of steps: the larger length is the row's count; both words become its first step.
  module.define(
    "starts",
    ["i32", "i32", "i32"],
    (f) => {
      const [next, rows, counts] = f.params as [Local, Local, Local];
      const [end, other, larger, total] = f.locals("i32", 4) as [Local, Local, Local, Local];
      const [a, b] = [i32.load(next.get), i32.load(other.get)];
      return [
        other.set(i32.add(next.get, i32.shl(rows.get, i32.const(2)))),
        end.set(other.get),
        loop(
          i32.ltU(next.get, end.get),
          larger.set(either(i32.ltU(a, b), b, a)),
          i32.store(counts.get, larger.get),
          i32.store(next.get, total.get),
          i32.store(other.get, total.get),
          increase(total, larger.get),
          [next, other, counts].map((local) => increase(local, 4)),
        ),
        total.get,
      ];
    },
    ["i32"],
  );

  // blank(program, end, zero, witness): steps that add nothing.
  module.define("blank", ["i32", "i32", "i32", "i32"], (f) => {
    const [program, end, zero, witness] = f.params as [Local, Local, Local, Local];
    return loop(
      i32.ltU(program.get, end.get),
      i32.store(program.get, zero.get),
      i32.store(program.get, witness.get, 4),
      increase(program, ROW_STEP_BYTES / 2),
    );
  });

  // program(indexed, end, rows, next, program, values, witness): writes each coefficient into its row's next step.
  module.define("program", ["i32", "i32", "i32", "i32", "i32", "i32", "i32"], (f) => {
    const [indexed, end, rows, next, program, values, witness] = f.params as [
      ...[Local, Local, Local, Local],
      ...[Local, Local, Local],
    ];
    const [slot, step] = f.locals("i32", 2) as [Local, Local];
    const half = either(i32.ltU(i32.load(indexed.get), rows.get), i32.const(0), i32.const(ROW_STEP_BYTES / 2));
    const elementOf = (table: Local, offset: number): Code =>
      i32.add(table.get, i32.mul(i32.load(indexed.get, offset), i32.const(TABLE_BYTES)));
    return loop(
      i32.ltU(indexed.get, end.get),
      slot.set(slotOf(next, indexed)),
      step.set(i32.add(i32.add(program.get, i32.mul(i32.load(slot.get), i32.const(ROW_STEP_BYTES))), half)),
      i32.store(slot.get, i32.add(i32.load(slot.get), i32.const(1))),
      i32.store(step.get, elementOf(values, 8)),
      i32.store(step.get, elementOf(witness, 4), 4),
      increase(indexed, INDEXED_BYTES),
    );
  });
}

/** reverse(table, count): swaps element i with the element at the index that has i's bits reversed. */
function defineReverse(module: ModuleBuilder): void {
  module.define("reverse", ["i32", "i32"], (f) => {
    const [table, count] = f.params as [Local, Local];
    const [index, bit, reversed, one, other] = f.locals("i32", 5) as [Local, Local, Local, Local, Local];
    const kept = f.local("i64");
    const addressOf = (number: Local): Code => i32.add(table.get, i32.mul(number.get, i32.const(TABLE_BYTES)));
    return loop(
      i32.ltU(index.get, count.get),
      reversed.set(i32.const(0)),
      bit.set(i32.const(1)),
      loop(
        i32.ltU(bit.get, count.get),
        reversed.set(
          i32.or(i32.shl(reversed.get, i32.const(1)), either(i32.and(index.get, bit.get), i32.const(1), i32.const(0))),
        ),
        bit.set(i32.shl(bit.get, i32.const(1))),
      ),
      when(
        i32.ltU(index.get, reversed.get),
        one.set(addressOf(index)),
        other.set(addressOf(reversed)),
        Array.from({ length: TABLE_BYTES / 8 }, (_, word) => [
          kept.set(i64.load(one.get, 8 * word)),
          i64.store(one.get, i64.load(other.get, 8 * word), 8 * word),
          i64.store(other.get, kept.get, 8 * word),
        ]),
      ),
      increase(index, 1),
    );
  });
}
