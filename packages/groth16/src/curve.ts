/**
 * BN254 in WebAssembly of this package (src/pairing), with integers only, so that it runs where the prover's kernels do not.
 *
 * Points are Jacobian, coordinates as in src/pairing/limbs.ts. Calls are synchronous, so one instance serves the whole process.
 */
import { PAGE_BYTES } from "./fast/layout.ts";
import { FILE_MONTGOMERY_BITS } from "./fast/zkey.ts";
import { type PairingCode, pairingCode } from "./pairing/code.ts";
import { ELEMENT_BYTES, fromLimbs, LIMBS, MONTGOMERY_BITS, modulo, toLimbs } from "./pairing/limbs.ts";

/** A point in the curve's internal form; 108 bytes in G1, 216 in G2. */
export type Point = Uint8Array;
/** A point prepared for the Miller loop, or its result. Infinity is empty. */
export type Prepared = Uint8Array;

/** 2^position times the point, which is affine, in bytes as for `fromFile`. */
export interface Term {
  /** 0 or more. */
  readonly position: number;
  readonly point: Uint8Array;
}

/** A scalar times a point. */
export interface Multiple {
  readonly point: Point;
  /** From 0 to 2^256 - 1. */
  readonly scalar: bigint;
}

export interface Group {
  readonly zero: Point;
  /** @param bytes affine, as in a .zkey file: coordinates in Montgomery form, zeros for infinity */
  fromFile(bytes: Uint8Array): Point;
  /** @param coordinates affine: x and y, or x0, x1, y0 and y1, below q; not infinity */
  fromCoordinates(coordinates: readonly bigint[]): Point;
  /** @param coordinates affine, below q; not infinity */
  isOnCurve(coordinates: readonly bigint[]): boolean;
  /** Whether r times the point is infinity. @param coordinates the coordinates of a point on the curve */
  hasOrderR(coordinates: readonly bigint[]): boolean;
  /** Affine coordinates in internal form, of which infinity has none. */
  toAffine(point: Point): Uint8Array;
  /** Affine coordinates; zeros for infinity. */
  toCoordinates(point: Point): bigint[];
  add(left: Point, right: Point): Point;
  /** The sum of 2^position times each point. */
  addUp(terms: readonly Term[]): Point;
  negate(point: Point): Point;
  /** Whether the point is infinity. */
  isZero(point: Point): boolean;
  /** @param scalar from 0 to 2^256 - 1 */
  multiply(point: Point, scalar: bigint): Point;
  /** The sum of multiples, in less time than one by one. */
  sumOfMultiples(multiples: readonly Multiple[]): Point;
}

export interface Curve {
  readonly G1: Group;
  readonly G2: Group;
  prepareG1(point: Point): Prepared;
  prepareG2(point: Point): Prepared;
  /** The product of the pairs' Miller loops. Pairs with infinity do not change it. */
  millerLoop(pairs: readonly (readonly [g1: Prepared, g2: Prepared])[]): Prepared;
  /** The element of the target group, in its one encoding. @throws RangeError for 0, which only points off the curves give */
  finalExponentiation(value: Prepared): Uint8Array;
  /** Zeroes the working memory, in which operands and results of the last calls are left. */
  wipe(): void;
}

const FIELD_BYTES = 32;
/** Pairs whose Miller loops share their squarings: with more, little is saved. */
const MAX_PAIRS = 8;
/** Points whose multiples share their doublings. */
const MAX_MULTIPLES = 8;
/** Bits of a scalar that are read at once, and the multiples of a point that are computed for that. */
const WINDOW_BITS = 4;
const WINDOW = 15;

let instance: Curve | undefined;
let compiling: Promise<Curve> | undefined;

/** The process's instance. */
export async function sharedCurve(): Promise<Curve> {
  if (instance !== undefined) return instance;
  if (compiling === undefined) {
    compiling = start();
    compiling.catch(() => {
      compiling = undefined;
    });
  }
  return compiling;
}

async function start(): Promise<Curve> {
  const code = pairingCode();
  const module = await WebAssembly.compile(code.bytes);
  instance ??= createCurve(code, module);
  return instance;
}

/** The process's instance, without waiting: compiles the kernel if that was not done. */
export function curveNow(): Curve {
  if (instance === undefined) {
    const code = pairingCode();
    instance = createCurve(code, new WebAssembly.Module(code.bytes));
  }
  return instance;
}

type WasmFunction = (...args: number[]) => number;

function createCurve(
  { constants, start, end, linesBytes, entryBytes }: PairingCode,
  module: WebAssembly.Module,
): Curve {
  const [maxPointBytes, targetBytes] = [6 * ELEMENT_BYTES, 12 * ELEMENT_BYTES];
  let free = end;
  const allocate = (length: number): number => {
    free += Math.ceil(length / 8) * 8;
    return free - Math.ceil(length / 8) * 8;
  };
  // Operands and results have fixed addresses, because no value stays in memory between calls.
  const [left, right, result] = [allocate(targetBytes), allocate(targetBytes), allocate(targetBytes)];
  const [entries, lines] = [allocate(MAX_PAIRS * entryBytes), allocate(MAX_PAIRS * linesBytes)];
  const [tables, partial] = [allocate(MAX_MULTIPLES * WINDOW * maxPointBytes), allocate(maxPointBytes)];
  const [fromFileFactor, fromNumberFactor] = [allocate(ELEMENT_BYTES), allocate(ELEMENT_BYTES)];
  const memory = new WebAssembly.Memory({ initial: Math.ceil(free / PAGE_BYTES) });
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const call = (name: string): WasmFunction => exports[name] as WasmFunction;
  const [bytes, words] = [new Uint8Array(memory.buffer), new DataView(memory.buffer)];
  bytes.set(constants);
  const put = (address: number, value: Uint8Array): number => {
    bytes.set(value, address);
    return address;
  };
  const take = (address: number, length: number): Uint8Array => bytes.slice(address, address + length);
  const putLimbs = (address: number, value: bigint): void => {
    for (const [index, limb] of toLimbs(modulo(value)).entries())
      words.setInt32(address + 4 * index, Number(limb), true);
  };
  const setFactors = (): void => {
    // A number x·S becomes x·R with the factor R^2/S.
    putLimbs(fromNumberFactor, 1n << (2n * MONTGOMERY_BITS));
    putLimbs(fromFileFactor, 1n << (2n * MONTGOMERY_BITS - FILE_MONTGOMERY_BITS));
  };
  setFactors();
  /** Numbers of elements in Montgomery form. */
  const read = (address: number, count: number): bigint[] => {
    call("export")(right, address, count);
    const limbs = new Int32Array(memory.buffer, right, count * LIMBS);
    return Array.from({ length: count }, (_, index) => {
      return modulo(fromLimbs(limbs.subarray(index * LIMBS, (index + 1) * LIMBS)));
    });
  };

  const createGroup = (degree: 1 | 2): Group => {
    const field = degree * ELEMENT_BYTES;
    const functions = ["add", "addMixed", "double", "negate", "affine", "isOnCurve", "isZero"];
    const [add, addMixed, double, negate, affine, isOnCurve, isZero] = functions.map((name) => call(name + degree)) as [
      ...[WasmFunction, WasmFunction, WasmFunction, WasmFunction],
      ...[WasmFunction, WasmFunction, WasmFunction],
    ];
    const size = 3 * field;
    const zero: Point = new Uint8Array(size);
    putLimbs(right, 1n << MONTGOMERY_BITS);
    const one = new Uint8Array(field);
    one.set(bytes.subarray(right, right + ELEMENT_BYTES));
    /** Writes the affine point at an address, in internal form. */
    const putAffine = (to: number, numbers: Uint8Array, factor: number): number => {
      call("import")(to, put(left, numbers), 2 * degree, factor);
      return to;
    };
    const putCoordinates = (to: number, coordinates: readonly bigint[]): number => {
      const numbers = new Uint8Array(coordinates.length * FIELD_BYTES);
      for (const [index, coordinate] of coordinates.entries()) numbers.set(toBytes(coordinate), index * FIELD_BYTES);
      return putAffine(to, numbers, fromNumberFactor);
    };
    const isInfinity = (numbers: Uint8Array): boolean => numbers.every((byte) => byte === 0);
    const isZeroPoint = (point: Point): boolean => isZero(put(left, point.subarray(2 * field))) === 1;
    const toAffine = (point: Point): Uint8Array => {
      if (isZeroPoint(point)) return new Uint8Array();
      put(left, point);
      // An inversion takes as long as 400 multiplications, and many points have Z = 1.
      if (one.every((byte, index) => byte === point[2 * field + index])) return take(left, 2 * field);
      affine(right, left);
      return take(right, 2 * field);
    };
    const sumOfMultiples = (multiples: readonly Multiple[]): Point => {
      put(result, zero);
      for (let first = 0; first < multiples.length; first += MAX_MULTIPLES) {
        addMultiples(multiples.slice(first, first + MAX_MULTIPLES));
        if (first > 0) add(result, result, partial);
        bytes.copyWithin(partial, result, result + size);
      }
      return take(result, size);
    };
    /** Sets the result to a sum. All scalars are read by the same windows, so that they share the doublings. */
    const addMultiples = (multiples: readonly Multiple[]): void => {
      const own = WINDOW * size;
      for (const [index, { point }] of multiples.entries()) {
        // Entry m - 1 of a point's table is m times the point.
        const table = put(tables + index * own, point);
        for (let entry = size; entry < own; entry += size) add(table + entry, table + entry - size, table);
      }
      put(result, zero);
      const longest = multiples.reduce((most, { scalar }) => Math.max(most, scalar.toString(16).length), 0);
      const digits = multiples.map(({ scalar }) => scalar.toString(16).padStart(longest, "0"));
      for (let position = 0; position < longest; position++) {
        if (position > 0) for (let bit = 0; bit < WINDOW_BITS; bit++) double(result, result);
        for (const [index, text] of digits.entries()) {
          const digit = Number.parseInt(text[position] as string, 16);
          if (digit > 0) add(result, result, tables + index * own + (digit - 1) * size);
        }
      }
    };
    return {
      zero,
      fromFile(point) {
        if (isInfinity(point)) return zero.slice();
        put(putAffine(result, point, fromFileFactor) + 2 * field, one);
        return take(result, size);
      },
      fromCoordinates(coordinates) {
        put(putCoordinates(result, coordinates) + 2 * field, one);
        return take(result, size);
      },
      isOnCurve(coordinates) {
        return isOnCurve(putCoordinates(result, coordinates)) === 1;
      },
      hasOrderR(coordinates) {
        // All points of G1's curve have the order r, because the curve has r points.
        if (degree === 1) return true;
        put(putCoordinates(result, coordinates) + 2 * field, one);
        return call("isInSubgroup")(result) === 1;
      },
      toAffine,
      toCoordinates(point) {
        const coordinates = toAffine(point);
        if (coordinates.length === 0) return new Array<bigint>(2 * degree).fill(0n);
        return read(put(left, coordinates), 2 * degree);
      },
      add(a, b) {
        add(result, put(left, a), put(right, b));
        return take(result, size);
      },
      addUp(terms) {
        put(result, zero);
        // From the highest position down, with doublings in between.
        const sorted = terms.toSorted((one, other) => other.position - one.position);
        let position = sorted[0]?.position ?? 0;
        for (const term of sorted) {
          for (; position > term.position; position--) double(result, result);
          if (!isInfinity(term.point)) addMixed(result, result, putAffine(right, term.point, fromFileFactor));
        }
        for (; position > 0; position--) double(result, result);
        return take(result, size);
      },
      isZero: isZeroPoint,
      negate(point) {
        negate(result, put(left, point));
        return take(result, size);
      },
      multiply: (point, scalar) => sumOfMultiples([{ point, scalar }]),
      sumOfMultiples,
    };
  };

  const [G1, G2] = [createGroup(1), createGroup(2)];
  return {
    ...{ G1, G2 },
    prepareG1: (point) => G1.toAffine(point),
    prepareG2(point) {
      const affine = G2.toAffine(point);
      if (affine.length === 0) return affine;
      call("prepare")(lines, put(left, affine));
      return take(lines, linesBytes);
    },
    millerLoop(pairs) {
      const finite = pairs.filter(([first, second]) => first.length > 0 && second.length > 0);
      // The first loop also runs without pairs, which gives 1.
      for (let first = 0; first === 0 || first < finite.length; first += MAX_PAIRS) {
        const some = finite.slice(first, first + MAX_PAIRS);
        for (const [index, [g1, g2]] of some.entries()) {
          const entry = put(entries + index * entryBytes, g1);
          words.setInt32(entry + g1.length, put(lines + index * linesBytes, g2), true);
        }
        call("miller")(first === 0 ? right : result, entries, entries + some.length * entryBytes);
        if (first > 0) call("multiply12")(right, right, result);
      }
      return take(right, targetBytes);
    },
    finalExponentiation(value) {
      // No pair of points of the curves gives 0, and its power would be equal to that of any other 0.
      if (value.every((byte) => byte === 0)) throw new RangeError("0 is in no target group");
      call("finalExponentiation")(result, put(left, value));
      const encoded = new Uint8Array(12 * FIELD_BYTES);
      for (const [index, number] of read(result, 12).entries()) encoded.set(toBytes(number), index * FIELD_BYTES);
      return encoded;
    },
    wipe() {
      bytes.fill(0, start);
      setFactors();
    },
  };
}

/** Whether the product of the pairs' pairings is one. */
export function isPairingOne(curve: Curve, pairs: readonly (readonly [g1: Point, g2: Prepared])[]): boolean {
  const product = curve.millerLoop(pairs.map(([g1, g2]) => [curve.prepareG1(g1), g2] as const));
  // One is encoded as the number 1, so nothing has to be computed for it.
  return curve.finalExponentiation(product).every((byte, index) => byte === (index === 0 ? 1 : 0));
}

function toBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(FIELD_BYTES);
  const view = new DataView(bytes.buffer);
  for (let word = 0; word < 4; word++)
    view.setBigUint64(8 * word, BigInt.asUintN(64, value >> BigInt(64 * word)), true);
  return bytes;
}
