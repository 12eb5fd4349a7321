import { add, base8, type MontgomeryPoint, negate } from "./field.ts";
import { evaluate, type Window, windowOf } from "./window.ts";

type Three<T> = [T, T, T];

/** One window of the table: the powers of two it adds or subtracts, and its constants. */
export interface Row {
  positions: Three<number>;
  window: Window;
}

/** 2^i Base8, i from 0 to 250. */
const powers: MontgomeryPoint[] = [base8()];
for (let i = 1; i <= 250; i++) powers.push(add(powers[i - 1] as MontgomeryPoint, powers[i - 1] as MontgomeryPoint));

export function powerOfTwo(i: number): MontgomeryPoint {
  const point = powers[i];
  if (point === undefined) throw new RangeError(`exponent is ${i}, expected 0 to 250`);
  return point;
}

/** A window, after comparing all its eight points with sums computed on the curve. */
function checked(positions: Three<number>, window: Window): Row {
  for (const s0 of [1n, -1n])
    for (const s1 of [1n, -1n])
      for (const s2 of [1n, -1n]) {
        const signed = (i: 0 | 1 | 2, sign: bigint): MontgomeryPoint =>
          sign === 1n ? powerOfTwo(positions[i]) : negate(powerOfTwo(positions[i]));
        const expected = add(add(signed(0, s0), signed(1, s1)), signed(2, s2));
        const actual = evaluate(window, [s0, s1, s2]);
        if (actual.u !== expected.u || actual.v !== expected.v)
          throw new Error(`the window of ${positions.join(", ")} does not give its eight points`);
      }
  return { positions, window };
}

/**
 * Splits exponents (ascending) into triples that have a window. It tries the nearest partners of the lowest exponent first,
 * and backtracks if the remaining exponents cannot be split. Undefined if there is no such split.
 */
export function partition(exponents: number[]): Row[] | undefined {
  const [lowest] = exponents;
  if (lowest === undefined) return [];
  for (let b = 2; b < exponents.length; b++)
    for (let a = 1; a < b; a++) {
      const positions: Three<number> = [lowest, exponents[a] as number, exponents[b] as number];
      const window = windowOf(powerOfTwo(positions[0]), powerOfTwo(positions[1]), powerOfTwo(positions[2]));
      if (window === undefined) continue;
      const rest = partition(exponents.filter((exponent) => !positions.includes(exponent)));
      if (rest !== undefined) return [checked(positions, window), ...rest];
    }
  return undefined;
}
