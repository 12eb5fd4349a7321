import { assemble, branch, type Code, type FunctionCode, op, repeat } from "./assembler.ts";
import { ELEMENT, LIMB_FUNCTIONS } from "./limb-code.ts";
import { PRODUCT_FUNCTIONS } from "./product-code.ts";

/** Functions in the order of the indices that `call` takes. */
const FIELD_FUNCTIONS = [...PRODUCT_FUNCTIONS, ...LIMB_FUNCTIONS];

const { get, set, call, const32 } = op;

/** Number of elements at the start of the memory that the functions overwrite; the last one always stays 0. */
const SCRATCH_ELEMENTS = 10;
const ZERO = SCRATCH_ELEMENTS - 1;
/** Address at which the memory for constants and operands starts. */
export const FREE = SCRATCH_ELEMENTS * ELEMENT;

const indexOf = (name: string) => FIELD_FUNCTIONS.findIndex((each) => each.name === name);
const at = (local: number, offset = 0): Code =>
  offset === 0 ? get(local) : [...get(local), ...const32(offset), ...op.add32];
const scratch = (index: number): Code => const32(index * ELEMENT);
const run = (name: string, ...operands: Code[]): Code => [...operands.flat(), ...call(indexOf(name))];
const advance = (local: number, by: Code): Code => [...get(local), ...by, ...op.add32, ...set(local)];
const countDown = (local: number): Code => [...get(local), ...const32(1), ...op.sub32, 0x22, local];

/** x <- (x + constant)^5, both at the addresses in the locals. */
function sbox(lane: number, constant: number): Code {
  return [
    ...run("add", at(lane), at(lane), at(constant)),
    ...run("sqr", scratch(0), at(lane)),
    ...run("sqr", scratch(0), scratch(0)),
    ...run("mul", at(lane), scratch(0), at(lane)),
  ];
}

/**
 * out <- sum of row[j] * state[j], j < width, two products at a time. Moves `row` to its end; `lane` and `count` are
 * overwritten.
 */
function dotProduct(out: Code, row: number, state: number, width: number, lane: number, count: number): Code {
  const pair = (to: Code) => run("mul2", to, at(row), at(lane), at(row, ELEMENT), at(lane, ELEMENT));
  const move = (elements: number) => [
    ...advance(row, const32(elements * ELEMENT)),
    ...advance(lane, const32(elements * ELEMENT)),
  ];
  const odd = [...get(width), ...const32(1), ...op.and32];
  const pairsLeft = [...get(width), ...const32(1), ...op.sub32, ...const32(1), ...op.shr32, 0x22, count];
  const pairs = repeat([...pair(scratch(0)), ...run("add", out, out, scratch(0)), ...move(2)], countDown(count));
  return [
    ...[...get(state), ...set(lane)],
    ...branch(odd, [...run("mul", out, at(row), at(lane)), ...move(1)], [...pair(out), ...move(2)]),
    ...branch(pairsLeft, pairs),
  ];
}

/** fullRound(out, state, constants, matrix, width, outputs): overwrites `state` and writes the first lanes to `out`. */
function fullRound(): FunctionCode {
  const [out, state, constants, matrix, width, outputs, lane, count] = [0, 1, 2, 3, 4, 5, 6, 7];
  const boxes = [...sbox(lane, constants), ...advance(lane, const32(ELEMENT)), ...advance(constants, const32(ELEMENT))];
  const rows = [...dotProduct(get(out), matrix, state, width, lane, count), ...advance(out, const32(ELEMENT))];
  const code = [
    ...[...get(state), ...set(lane), ...get(width), ...set(count)],
    ...repeat(boxes, countDown(count)),
    ...repeat(rows, countDown(outputs)),
  ];
  return { name: "fullRound", parameters: 6, locals32: 2, code };
}

/** partialRounds(state, rounds, width, times): each round is its constant, its row and its column, one after another. */
function partialRounds(): FunctionCode {
  const [state, data, width, times, lane, count] = [0, 1, 2, 3, 4, 5];
  // After the dot product, `data` points to the column. Lane j gets column[j - 1] times the S-box's output.
  const columns = [
    ...run("mul", scratch(0), at(data), at(state)),
    ...run("add", at(lane), at(lane), scratch(0)),
    ...advance(data, const32(ELEMENT)),
    ...advance(lane, const32(ELEMENT)),
  ];
  const round = [
    ...sbox(state, data),
    ...advance(data, const32(ELEMENT)),
    ...dotProduct(scratch(1), data, state, width, lane, count),
    ...[...get(state), ...const32(ELEMENT), ...op.add32, ...set(lane)],
    ...[...get(width), ...const32(1), ...op.sub32, ...set(count)],
    ...repeat(columns, countDown(count)),
    // Lane 0 is written last, because the other lanes need the S-box's output in it. Adding 0 copies.
    ...run("add", at(state), scratch(1), scratch(ZERO)),
  ];
  return { name: "partialRounds", parameters: 4, locals32: 2, code: repeat(round, countDown(times)) };
}

/**
 * ladderStep(near, far, base, a24): one bit of a Montgomery ladder. Points are (U, W), u = U / W, in two elements. near <-
 * 2 near, far <- near + far, where far - near is the point with u = base. Formulas of Montgomery (1987), with a24 =
 * (A + 2) / 4.
 */
function ladderStep(): FunctionCode {
  const [near, far, base, a24] = [0, 1, 2, 3];
  const [u0, w0, u1, w1] = [at(near), at(near, ELEMENT), at(far), at(far, ELEMENT)];
  const [sum0, difference0, sum1, difference1, cross0, cross1, square0, square1] = [1, 2, 3, 4, 5, 6, 7, 8].map(
    scratch,
  );
  const code = [
    // Each call stores the sum and, right after it, the difference.
    ...run("addsub", sum0!, u0, w0),
    ...run("addsub", sum1!, u1, w1),
    ...run("mul", cross0!, difference1!, sum0!),
    ...run("mul", cross1!, sum1!, difference0!),
    ...run("sqr", square0!, sum0!),
    ...run("sqr", square1!, difference0!),
    // 2 near: U = s0 s1, W = (s0 - s1) (s1 + a24 (s0 - s1))
    ...run("mul", u0, square0!, square1!),
    ...run("sub", sum0!, square0!, square1!),
    ...run("mul", difference0!, at(a24), sum0!),
    ...run("add", difference0!, difference0!, square1!),
    ...run("mul", w0, sum0!, difference0!),
    // near + far: U = (c0 + c1)^2, W = base (c0 - c1)^2
    ...run("addsub", sum1!, cross0!, cross1!),
    ...run("sqr", u1, sum1!),
    ...run("sqr", difference1!, difference1!),
    ...run("mul", w1, at(base), difference1!),
  ];
  return { name: "ladderStep", parameters: 4, code };
}

/** The module's exported functions: all operands are addresses or counts. */
export interface Program {
  mul(dst: number, a: number, b: number): void;
  sqr(dst: number, a: number): void;
  add(dst: number, a: number, b: number): void;
  sub(dst: number, a: number, b: number): void;
  addsub(dst: number, a: number, b: number): void;
  mul2(dst: number, a: number, b: number, c: number, d: number): void;
  split(dst: number, words: number): void;
  join(words: number, a: number): void;
  fullRound(out: number, state: number, constants: number, matrix: number, width: number, outputs: number): void;
  partialRounds(state: number, rounds: number, width: number, times: number): void;
  ladderStep(near: number, far: number, base: number, a24: number): void;
}

/** The module's bytes, with `pages` of 64 KiB. */
export function programBytes(pages: number): Uint8Array {
  return assemble([...FIELD_FUNCTIONS, fullRound(), partialRounds(), ladderStep()], pages);
}
