/**
 * BN254 in wasmcurves' WebAssembly, which snarkjs uses too. Using it directly takes 10 ms to start, instead of half a
 * second for importing snarkjs and building its curve, and works in worker threads.
 *
 * Points are Jacobian, coordinates in Montgomery form (R = 2^256), little-endian. Calls are synchronous, so one
 * instance serves the whole process.
 */
import bn128 from "wasmcurves/build/bn128_wasm.js";
import { fromBase64 } from "./base64.ts";
import { SCALAR_FIELD_ORDER } from "./proof/orders.ts";

/** A point in the curve's internal form; 96 bytes in G1, 192 in G2. */
export type Point = Uint8Array;
/** An element of the target group, or a point prepared for the Miller loop. */
export type Prepared = Uint8Array;

/** 2^position times the point, which is affine, in bytes as for `fromFile`. */
export interface Term {
  /** 0 or more. */
  readonly position: number;
  readonly point: Uint8Array;
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
  /** Affine coordinates. */
  toCoordinates(point: Point): bigint[];
  add(left: Point, right: Point): Point;
  /** The sum of 2^position times each point. */
  addUp(terms: readonly Term[]): Point;
  negate(point: Point): Point;
  /** Whether the point is infinity. */
  isZero(point: Point): boolean;
  /** @param scalar from 0 to 2^256 - 1 */
  multiply(point: Point, scalar: bigint): Point;
}

export interface Curve {
  readonly G1: Group;
  readonly G2: Group;
  prepareG1(point: Point): Prepared;
  prepareG2(point: Point): Prepared;
  /** The product of the pairs' Miller loops. */
  millerLoop(pairs: readonly (readonly [g1: Prepared, g2: Prepared])[]): Prepared;
  finalExponentiation(value: Prepared): Prepared;
  /** Zeroes the working memory, in which operands and results of the last calls are left. */
  wipe(): void;
}

const FIELD_BYTES = 32;
const TARGET_BYTES = 12 * FIELD_BYTES;
/** The module's minimum. Word 0 holds the address at which its constants end and free memory begins. */
const INITIAL_PAGES = 25;

let instance: Curve | undefined;
let compiling: Promise<Curve> | undefined;

/** The process's instance. */
export async function sharedCurve(): Promise<Curve> {
  if (instance !== undefined) return instance;
  compiling ??= WebAssembly.compile(fromBase64(bn128.code)).then((module) => {
    instance ??= createCurve(module);
    return instance;
  });
  return compiling;
}

/** The same, at once: compiles it now if nobody has. */
export function curveNow(): Curve {
  instance ??= createCurve(new WebAssembly.Module(fromBase64(bn128.code)));
  return instance;
}

type WasmFunction = (...args: number[]) => number;

function createCurve(module: WebAssembly.Module): Curve {
  const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES });
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const call = (name: string): WasmFunction => exports[name] as WasmFunction;
  const bytes = new Uint8Array(memory.buffer);
  const words = new DataView(memory.buffer);
  let free = (words.getUint32(0, true) + 7) & ~7;
  const allocate = (length: number): number => {
    free += length;
    return free - length;
  };
  // Operands and results have fixed addresses, because no value stays in memory between calls.
  const [left, right, result] = [allocate(TARGET_BYTES), allocate(TARGET_BYTES), allocate(TARGET_BYTES)];
  const [g1, g2] = [allocate(bn128.prePSize), allocate(bn128.preQSize)];
  // Multiplications use the memory from here on as working space.
  words.setUint32(0, free, true);
  const put = (address: number, value: Uint8Array): number => {
    bytes.set(value, address);
    return address;
  };
  const take = (address: number, length: number): Uint8Array => bytes.slice(address, address + length);

  const createGroup = (prefix: "g1m" | "g2m", degree: 1 | 2): Group => {
    const affine = 2 * degree * FIELD_BYTES;
    const jacobian = 3 * degree * FIELD_BYTES;
    const [add, addMixed, double, negate, multiply, toAffine, toJacobian] = [
      ...["add", "addMixed", "double", "neg", "timesScalar", "toAffine", "toJacobian"],
    ].map((name) => call(`${prefix}_${name}`)) as [
      ...[WasmFunction, WasmFunction, WasmFunction, WasmFunction],
      ...[WasmFunction, WasmFunction, WasmFunction],
    ];
    const [fromMontgomery, toMontgomery, zero, inCurve, isZero] = [
      ...["fromMontgomeryAffine", "toMontgomeryAffine", "zero", "inCurveAffine", "isZero"],
    ].map((name) => call(`${prefix}_${name}`)) as [
      ...[WasmFunction, WasmFunction, WasmFunction, WasmFunction, WasmFunction],
    ];
    /** @returns the address of the point in Montgomery form, affine */
    const putCoordinates = (coordinates: readonly bigint[]): number => {
      for (const [index, coordinate] of coordinates.entries()) put(left + index * FIELD_BYTES, toBytes(coordinate));
      toMontgomery(left, right);
      return right;
    };
    zero(result);
    return {
      zero: take(result, jacobian),
      fromFile(point) {
        toJacobian(put(left, point), result);
        return take(result, jacobian);
      },
      fromCoordinates(coordinates) {
        toJacobian(putCoordinates(coordinates), result);
        return take(result, jacobian);
      },
      isOnCurve(coordinates) {
        return inCurve(putCoordinates(coordinates)) === 1;
      },
      hasOrderR(coordinates) {
        toJacobian(putCoordinates(coordinates), left);
        multiply(left, put(right, toBytes(SCALAR_FIELD_ORDER)), FIELD_BYTES, result);
        return isZero(result) === 1;
      },
      toCoordinates(point) {
        toAffine(put(left, point), right);
        fromMontgomery(right, result);
        const raw = take(result, affine);
        return Array.from({ length: 2 * degree }, (_, index) => {
          return fromBytes(raw.subarray(index * FIELD_BYTES, (index + 1) * FIELD_BYTES));
        });
      },
      add(a, b) {
        add(put(left, a), put(right, b), result);
        return take(result, jacobian);
      },
      addUp(terms) {
        zero(result);
        // From the highest position down, with doublings in between.
        const sorted = terms.toSorted((one, other) => other.position - one.position);
        let position = sorted[0]?.position ?? 0;
        for (const term of sorted) {
          for (; position > term.position; position--) double(result, result);
          addMixed(result, put(left, term.point), result);
        }
        for (; position > 0; position--) double(result, result);
        return take(result, jacobian);
      },
      isZero(point) {
        return isZero(put(left, point)) === 1;
      },
      negate(point) {
        negate(put(left, point), result);
        return take(result, jacobian);
      },
      multiply(point, scalar) {
        multiply(put(left, point), put(right, toBytes(scalar)), FIELD_BYTES, result);
        return take(result, jacobian);
      },
    };
  };

  return {
    G1: createGroup("g1m", 1),
    G2: createGroup("g2m", 2),
    prepareG1(point) {
      call("bn128_prepareG1")(put(left, point), g1);
      return take(g1, bn128.prePSize);
    },
    prepareG2(point) {
      call("bn128_prepareG2")(put(left, point), g2);
      return take(g2, bn128.preQSize);
    },
    millerLoop(pairs) {
      call("ftm_one")(right);
      for (const [first, second] of pairs) {
        call("bn128_millerLoop")(put(g1, first), put(g2, second), left);
        call("ftm_mul")(left, right, result);
        bytes.copyWithin(right, result, result + TARGET_BYTES);
      }
      return take(right, TARGET_BYTES);
    },
    finalExponentiation(value) {
      call("bn128_finalExponentiation")(put(left, value), result);
      return take(result, TARGET_BYTES);
    },
    wipe() {
      bytes.fill(0, left);
    },
  };
}

function toBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(FIELD_BYTES);
  const view = new DataView(bytes.buffer);
  for (let word = 0; word < 4; word++)
    view.setBigUint64(8 * word, BigInt.asUintN(64, value >> BigInt(64 * word)), true);
  return bytes;
}

function fromBytes(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, FIELD_BYTES);
  let value = 0n;
  for (let word = 3; word >= 0; word--) value = (value << 64n) | view.getBigUint64(8 * word, true);
  return value;
}
