/** The memory in which roots of two points are computed: pairs at fixed distances from its start. */
import type { Local } from "../fast/assembler.ts";
import { PAIR_BYTES } from "../fast/constants.ts";
import { pairAt } from "../fast/field-functions.ts";
import { f64x2 } from "../fast/instructions.ts";
import type { FieldEmitter } from "../fast/multiply.ts";
import type { Operand, Product } from "../fast/operands.ts";

/** Odd powers of the base: the base itself is the first. */
export const TABLE_SLOTS = 8;

/** Numbers of the pairs. Those with two parts are followed by the second one. */
export const SLOT = { base: 0, power: TABLE_SLOTS, x: 9, right: 11, temporary: 13, y: 15, mask: 17 } as const;
const SLOTS = 18;

/** @returns the address of a frame */
export function newFrame({ pool }: FieldEmitter): number {
  const [first = 0] = Array.from({ length: SLOTS }, () => pool.scratch());
  return first;
}

/** The pair in a slot of the frame at the address in a local. */
export const slotOf = (frame: Local, slot: number): Operand => pairAt(frame.get, slot * PAIR_BYTES);

/** Negates each limb. */
export const minus =
  (operand: Operand): Operand =>
  (limb) =>
    f64x2.neg(operand(limb));

/** The square of an operand, which takes fewer steps than a product. */
export const square = (operand: Operand): Product => ({ left: operand, right: operand });
