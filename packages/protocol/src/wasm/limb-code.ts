import { type Code, type FunctionCode, op } from "./assembler.ts";

/*
 * Arithmetic modulo p in nine limbs of 29 bits, each in an i64 of memory, in Montgomery form with R = 2^261.
 *
 * 29 bits leave room: a column of a product sums at most nine products of limbs and nine from the reduction, 18 * 2^58
 * < 2^63, so a multiplication needs no carries in between (the layout of mitschabaude/montgomery). Limbs are signed.
 * Every function except `sub` leaves limbs 0..7 in [0, 2^29) and the sign in limb 8; the limbs of a difference are
 * between -2^29 and 2^29. A multiplication accepts both.
 *
 * Sizes: R is 169 p, and |mul(a, b)| < |a b| / R + p. The largest value anywhere is a lane of Poseidon's partial rounds,
 * to which up to 68 products are added: 70 p < 2^260, so limb 8 stays below 2^29 as well; its S-box squares to 30 p at most.
 */
export const LIMBS = 9;
export const LIMB_BITS = 29n;
/** Bytes of an element. */
export const ELEMENT = 8 * LIMBS;
/** R of the Montgomery form. */
export const RADIX = 1n << (LIMB_BITS * BigInt(LIMBS));

export const MASK = (1n << LIMB_BITS) - 1n;

const { get, set, load, store, const64 } = op;
/** Parameters: addresses of the result and of the operands. */
export const [DST, A, B] = [0, 1, 2];
export const masked: Code = [...const64(MASK), ...op.and];
export const carry: Code = [...const64(LIMB_BITS), ...op.shr];
export const indices = Array.from({ length: LIMBS }, (_, i) => i);

/** Propagates carries through the columns, which are in the locals from `first` on, and stores them as limbs. */
export function storeCarried(first: number): Code {
  return indices.flatMap((i) => {
    const limb = get(first + i);
    if (i === LIMBS - 1) return [...get(DST), ...limb, ...store(8 * i)];
    const next = [...get(first + i + 1), ...limb, ...carry, ...op.add, ...set(first + i + 1)];
    return [...next, ...get(DST), ...limb, ...masked, ...store(8 * i)];
  });
}

const limbwise = (operation: Code) => (i: number) => [
  ...get(A),
  ...load(8 * i),
  ...get(B),
  ...load(8 * i),
  ...operation,
];

const sums: Code = indices.flatMap((i) => [...limbwise(op.add)(i), ...set(4 + i)]);
const differences: Code = indices.flatMap((i) => [...limbwise(op.sub)(i), ...set(4 + LIMBS + i)]);

/** add(dst, a, b), carried so that a sum of sums still fits. */
function addition(): FunctionCode {
  return { name: "add", parameters: 3, locals64: LIMBS + 1, code: [...sums, ...storeCarried(4)] };
}

/** sub(dst, a, b) of two carried elements; the limbs of the result are not carried. */
function subtraction(): FunctionCode {
  const code = indices.flatMap((i) => [...get(DST), ...limbwise(op.sub)(i), ...store(8 * i)]);
  return { name: "sub", parameters: 3, code };
}

/** addsub(dst, a, b): stores a + b and, right after it, a - b; reads the operands once. */
function both(): FunctionCode {
  const stored = indices.flatMap((i) => [...get(DST), ...get(4 + LIMBS + i), ...store(ELEMENT + 8 * i)]);
  return {
    name: "addsub",
    parameters: 3,
    locals64: 2 * LIMBS + 1,
    code: [...sums, ...differences, ...storeCarried(4), ...stored],
  };
}

/** split(dst, words): writes the limbs of a number below 2^256 that is given as four 64-bit words. */
function splitting(): FunctionCode {
  const code = indices.flatMap((i) => {
    const [word, shift] = [Math.floor((29 * i) / 64), BigInt((29 * i) % 64)];
    const low = [...get(A), ...load(8 * word), ...const64(shift), ...op.shrUnsigned];
    const spills = shift > 64n - LIMB_BITS && word < 3;
    const high = spills ? [...get(A), ...load(8 * word + 8), ...const64(64n - shift), ...op.shl, ...op.or] : [];
    return [...get(DST), ...low, ...high, ...masked, ...store(8 * i)];
  });
  return { name: "split", parameters: 2, code };
}

/** join(words, a): writes a carried, non-negative element as four 64-bit words. */
function joining(): FunctionCode {
  const code = [0, 1, 2, 3].flatMap((word) => {
    const parts = indices.flatMap((i) => {
      const shift = 29 * i - 64 * word;
      if (shift >= 64 || shift <= -29) return [];
      const distance = [...const64(BigInt(Math.abs(shift))), ...(shift >= 0 ? op.shl : op.shrUnsigned)];
      return [...get(A), ...load(8 * i), ...distance, ...op.or];
    });
    return [...get(DST), ...const64(0n), ...parts, ...store(8 * word)];
  });
  return { name: "join", parameters: 2, code };
}

/** Sums, differences and conversions. */
export const LIMB_FUNCTIONS: readonly FunctionCode[] = [addition(), subtraction(), both(), splitting(), joining()];
