/** The points of a key with which proofs that were prepared for one free signal are finished. Computed once per circuit. */
import { type Curve, isPairingOne, type Point, type Prepared, sharedCurve } from "../curve.ts";
import type { ProvingEngine } from "../engine/engine.ts";
import { groth16Error, ofCircuit } from "../errors.ts";
import { bytesIn, type KeyBytes } from "../fast/key-bytes.ts";
import { SCALAR_BYTES } from "../fast/layout.ts";
import type { Witness } from "../fast/parts.ts";
import { parseZkey } from "../fast/zkey.ts";
import type { VerificationKey } from "../proof/verification-key.ts";
import { type FreeSignal, plusOne } from "./free-signal.ts";
import { Table } from "./table.ts";

/** 63 points per digit: 290 KB for a point of G1, 580 KB for one of G2. */
const TABLE_BITS = 6;

/**
 * The signal's bases u in A, v in B and v1 in B1, and the base of its square in C, as points and as tables.
 * docs/protocol.md calls them U, V, V1 and E.
 */
export interface FreeConstants {
  readonly signal: FreeSignal;
  readonly curve: Curve;
  readonly alpha1: Point;
  readonly beta1: Point;
  readonly beta2: Point;
  readonly delta1: Point;
  readonly delta2: Point;
  readonly u: Point;
  readonly v: Point;
  readonly v1: Point;
  /** The base whose multiple by the signal's square is added to the quotient H, a term of C. */
  readonly unitQuotient: Point;
  /** The base whose multiple by the signal's square is added to C: `unitQuotient` plus the base of the wire of the square. */
  readonly square: Point;
  readonly tables: {
    readonly u: Table;
    readonly v: Table;
    readonly v1: Table;
    readonly square: Table;
    readonly delta1: Table;
    readonly delta2: Table;
  };
  /** For checks by pairing: v, and the key's delta, gamma and base of the signal. */
  readonly pairing: {
    readonly v: Prepared;
    readonly delta: Prepared;
    readonly gamma: Prepared;
    readonly signal: Point;
  };
}

/** @throws Groth16Error SIGNAL_NOT_FREE if the key's points contradict what the witnesses showed */
export async function freeConstants<Key extends KeyBytes>(
  circuit: string,
  engine: Required<Pick<ProvingEngine<Key>, "sums">>,
  file: Key,
  key: VerificationKey,
  signal: FreeSignal,
): Promise<FreeConstants> {
  const curve = await sharedCurve();
  const { G1, G2 } = curve;
  const zkey = parseZkey(file);
  // A key of another circuit may have fewer bases than the witness has elements.
  const baseOf = (section: KeyBytes, bytes: number, index: number): Uint8Array =>
    bytes * (index + 1) > section.byteLength ? new Uint8Array(bytes) : bytesIn(section, bytes * index, bytes);
  const [u, v1] = [zkey.a, zkey.b1].map((section) => G1.fromFile(baseOf(section, 64, signal.wire))) as [Point, Point];
  const v = G2.fromFile(baseOf(zkey.b2, 128, signal.wire));
  const inC = G1.fromFile(baseOf(zkey.c, 64, signal.square - zkey.publicSignals - 1));
  const unit = unitWitness(zkey.variables, signal);
  const unitQuotient = (await engine.sums(file, unit, ["h"])).h as Point;
  const square = G1.add(unitQuotient, inC);
  const pairing = {
    v: curve.prepareG2(v),
    delta: curve.prepareG2(G2.fromFile(zkey.delta2)),
    gamma: curve.prepareG2(G2.fromCoordinates(key.vk_gamma_2.slice(0, 2).flat().map(BigInt))),
    signal: G1.fromCoordinates((key.IC[signal.wire] as readonly string[]).slice(0, 2).map(BigInt)),
  };
  // With infinity, every pairing is 1, so it would show nothing; a signal that occurs in its square has neither base there.
  const isMissing = [u, v1, square].some(G1.isZero) || G2.isZero(v);
  if (
    isMissing ||
    !isPairingOne(curve, [
      [u, pairing.v],
      [G1.negate(square), pairing.delta],
    ])
  ) {
    const message = `Proofs${ofCircuit(circuit)} cannot be prepared: the key's points do not fit a signal that occurs only in its square.`;
    throw groth16Error("SIGNAL_NOT_FREE", message, { circuit });
  }
  const [alpha1, beta1, delta1] = [zkey.alpha1, zkey.beta1, zkey.delta1].map(G1.fromFile) as [Point, Point, Point];
  const [beta2, delta2] = [zkey.beta2, zkey.delta2].map(G2.fromFile) as [Point, Point];
  return {
    ...{ signal, curve, alpha1, beta1, beta2, delta1, delta2, u, v, v1, unitQuotient, square, pairing },
    tables: {
      u: new Table(G1, u, TABLE_BITS),
      v: new Table(G2, v, TABLE_BITS),
      v1: new Table(G1, v1, TABLE_BITS),
      square: new Table(G1, square, TABLE_BITS),
      delta1: new Table(G1, delta1, TABLE_BITS),
      delta2: new Table(G2, delta2, TABLE_BITS),
    },
  };
}

/** 1 at the signal's wire and 0 everywhere else. */
function unitWitness(variables: number, { wire }: FreeSignal): Witness {
  return plusOne(new Uint8Array(SCALAR_BYTES * variables), wire);
}
