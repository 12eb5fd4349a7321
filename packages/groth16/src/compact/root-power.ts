/** Powers with the fixed exponent (p - 3)/4. */
import type { Code, Local, ModuleBuilder } from "../fast/assembler.ts";
import { PAIR_BYTES } from "../fast/constants.ts";
import { copy } from "../fast/curve-sums.ts";
import { pairAt } from "../fast/field-functions.ts";
import { i32, increase, loop } from "../fast/instructions.ts";
import type { FieldEmitter } from "../fast/multiply.ts";
import { SLOT, square, TABLE_SLOTS } from "./root-frame.ts";

/** Bits of the exponent that are multiplied at once: the table has the odd powers below 2^4. */
const WINDOW = Math.log2(2 * TABLE_SLOTS);

/**
 * Raises the bases of two frames. The machine computes both in turns, because a squaring waits for the one before. A base below
 * 1.3 p in absolute value, as are then its powers: 0.378·1.3^2 + 0.5 < 1.14.
 * @returns the code of a call
 */
export function definePower(module: ModuleBuilder, field: FieldEmitter, frames: readonly [number, number]): Code {
  const slots = (slot: number): readonly [Code, Code] => {
    const [first, second] = frames.map((frame) => i32.const(frame + slot * PAIR_BYTES));
    return [first as Code, second as Code];
  };
  const two = module.define("multiplyTwo", ["i32", "i32", "i32", "i32", "i32", "i32"], (f) => {
    const [out, a, b, out2, c, d] = f.params as [Local, Local, Local, Local, Local, Local];
    const product = (left: Local, right: Local) => ({ left: pairAt(left.get), right: pairAt(right.get) });
    return field.multiplyTwo(f, { out: out.get, product: product(a, b) }, { out: out2.get, product: product(c, d) });
  });
  const times = (to: number, left: number, right: number): Code => {
    const [out, a, b] = [slots(to), slots(left), slots(right)];
    return two(out[0], a[0], b[0], out[1], a[1], b[1]);
  };
  const squares = module.define("squares", ["i32"], (f) => {
    const [count] = f.params as [Local];
    const [first, second] = slots(SLOT.power);
    const step = field.multiplyTwo(
      f,
      { out: first, product: square(pairAt(first)) },
      { out: second, product: square(pairAt(second)) },
    );
    return loop(count.get, step, increase(count, -1));
  });
  const begin = (slot: number): Code =>
    slots(slot).map((from, frame) => copy(slots(SLOT.power)[frame as 0 | 1], pairAt(from)));
  const raise = module.define("raise", [], () => {
    // The base's square is where the power will be.
    const table = Array.from({ length: TABLE_SLOTS - 1 }, (_, slot) => times(slot + 1, slot, SLOT.power));
    const steps = windowsOf((field.modulus - 3n) / 4n).map(({ squarings, slot }, index) => {
      if (index === 0) return begin(slot as number);
      return [squares(i32.const(squarings)), slot === undefined ? [] : times(SLOT.power, SLOT.power, slot)];
    });
    return [times(SLOT.power, SLOT.base, SLOT.base), table, steps];
  });
  return raise();
}

interface Window {
  readonly squarings: number;
  /** The power to multiply by, then; undefined after the last window. */
  readonly slot: number | undefined;
}

/** Splits an exponent, from its highest bit on, into windows that end with a one. */
function windowsOf(exponent: bigint): Window[] {
  const bits = exponent.toString(2);
  const windows: Window[] = [];
  let zeros = 0;
  for (let start = 0; start < bits.length; ) {
    if (bits[start] === "0") {
      zeros += 1;
      start += 1;
      continue;
    }
    const window = bits.slice(start, start + WINDOW).replace(/0+$/, "");
    windows.push({ squarings: zeros + window.length, slot: (Number.parseInt(window, 2) - 1) / 2 });
    zeros = 0;
    start += window.length;
  }
  return zeros === 0 ? windows : [...windows, { squarings: zeros, slot: undefined }];
}
