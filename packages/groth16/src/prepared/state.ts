/**
 * A proof for every value of a free signal, before its value is known. docs/protocol.md ("Prepared payments") has the
 * equations and says why they are valid. Anyone who has a state can finish it for any value. So it stays in this thread's
 * memory, and is wiped after one use.
 */
import { type Group, isPairingOne, type Point, type Prepared } from "../curve.ts";
import type { ProvingEngine } from "../engine/engine.ts";
import { pairingHolds } from "../engine/pairing-check.ts";
import { groth16Error } from "../errors.ts";
import type { KeyBytes } from "../fast/key-bytes.ts";
import type { Sums, Witness } from "../fast/parts.ts";
import { proofOf, randomScalar } from "../fast/prove.ts";
import type { ProofPoints } from "../proof/decode.ts";
import { SCALAR_FIELD_ORDER } from "../proof/orders.ts";
import type { VerificationKey } from "../proof/verification-key.ts";
import type { FreeConstants } from "./constants.ts";
import { plusOne } from "./free-signal.ts";
import { Table } from "./table.ts";

/** 15 points per digit: building the three tables takes about 4 ms. */
const TABLE_BITS = 4;

/** The proof for the value 0, and what each unit of the value adds to C, called D in docs/protocol.md. */
export interface State {
  readonly a: Point;
  readonly b: Point;
  readonly b1: Point;
  readonly c: Point;
  readonly slope: Point;
  readonly tables: { readonly a: Table; readonly b1: Table; readonly slope: Table };
}

/** The secrets that blind a proof. */
export interface Blinding {
  readonly r: bigint;
  readonly s: bigint;
}

export const freshBlinding = (): Blinding => ({ r: randomScalar(), s: randomScalar() });

/**
 * @param witness the witness of a true statement in which the signal is 0
 * @param pause called between the two long computations
 * @throws Groth16Error ENGINE_FAILED if a point of the state would be infinity, of which the pairings of `stateHolds` would say
 *   nothing. Each contains a random blinding, so this is a fault of the engine.
 */
export async function prepareState<Key extends KeyBytes>(
  engine: Required<Pick<ProvingEngine<Key>, "sums">>,
  zkey: Key,
  constants: FreeConstants,
  witness: Witness,
  pause: () => Promise<void> = async () => undefined,
): Promise<State> {
  const { signal, curve, alpha1, beta1, beta2, delta1, delta2, u, v1, unitQuotient } = constants;
  const { G1, G2 } = curve;
  const next = plusOne(witness, signal.wire);
  try {
    const sums = (await engine.sums(zkey, witness, ["a", "b1", "b2", "c", "h"])) as Required<Sums>;
    await pause();
    const nextQuotient = (await engine.sums(zkey, next, ["h"])).h as Point;
    const { r, s } = freshBlinding();
    const rs = SCALAR_FIELD_ORDER - ((r * s) % SCALAR_FIELD_ORDER);
    const a = sum(G1, sums.a, alpha1, G1.multiply(delta1, r));
    const b = sum(G2, sums.b2, beta2, G2.multiply(delta2, s));
    const b1 = sum(G1, sums.b1, beta1, G1.multiply(delta1, s));
    const c = sum(G1, sums.c, sums.h, G1.multiply(a, s), G1.multiply(b1, r), G1.multiply(delta1, rs));
    const bilinear = [nextQuotient, G1.negate(sums.h), G1.negate(unitQuotient)] as const;
    const slope = sum(G1, ...bilinear, G1.multiply(u, s), G1.multiply(v1, r));
    const [ofA, ofB1, ofSlope] = [a, b1, slope].map((point) => new Table(G1, point, TABLE_BITS));
    return { a, b, b1, c, slope, tables: { a: ofA as Table, b1: ofB1 as Table, slope: ofSlope as Table } };
  } finally {
    next.fill(0);
    curve.wipe();
  }
}

/**
 * Whether the state gives a valid proof for every value. The verifier's equation is a polynomial of degree 2 in the
 * value: its constant term is the proof for 0, its linear term is checked here, and its quadratic term was checked when
 * the constants were computed.
 */
export async function stateHolds(
  { curve, u, pairing }: FreeConstants,
  key: VerificationKey,
  { a, b, c, slope }: State,
  signals: readonly bigint[],
): Promise<boolean> {
  const preparedB: Prepared = curve.prepareG2(b);
  const { G1 } = curve;
  const linear = isPairingOne(curve, [
    [a, pairing.v],
    [u, preparedB],
    [G1.negate(pairing.signal), pairing.gamma],
    [G1.negate(slope), pairing.delta],
  ]);
  return linear && pairingHolds(key, proofOf(curve, a, b, c), signals);
}

/**
 * The proof for a value of the signal. The blinding must be fresh each time: two proofs of one state with the same
 * blinding reveal the slope, and with it anyone can make a third one for any value.
 */
export function finishState(
  { curve, tables }: FreeConstants,
  state: State,
  value: bigint,
  { r, s }: Blinding = freshBlinding(),
): ProofPoints {
  const times = (left: bigint, right: bigint): bigint => (left * right) % SCALAR_FIELD_ORDER;
  const a = tables.delta1.addMultiple(tables.u.addMultiple(state.a, value), r);
  const b = tables.delta2.addMultiple(tables.v.addMultiple(state.b, value), s);
  // C(d) + s·A' + r·B1(d), with A' and B1(d) written out, so that every multiplication has a table.
  let c = state.tables.slope.addMultiple(state.c, value);
  c = tables.square.addMultiple(c, times(value, value));
  c = state.tables.a.addMultiple(c, s);
  c = tables.u.addMultiple(c, times(s, value));
  c = tables.delta1.addMultiple(c, times(s, r));
  c = state.tables.b1.addMultiple(c, r);
  c = tables.v1.addMultiple(c, times(r, value));
  return proofOf(curve, a, b, c);
}

export function wipeState({ curve }: FreeConstants, { a, b, b1, c, slope, tables }: State): void {
  for (const point of [a, b, b1, c, slope]) point.fill(0);
  for (const table of Object.values(tables)) table.wipe();
  curve.wipe();
}

function sum({ add, isZero }: Group, first: Point, ...others: readonly Point[]): Point {
  const total = others.reduce((left, right) => add(left, right), first);
  if (isZero(total)) {
    const reason = "a sum of a prepared proof is infinity";
    throw groth16Error("ENGINE_FAILED", `The proof engine failed: ${reason}.`, { reason });
  }
  return total;
}
