// Points that a careless verifier would take.
import { bn254 } from "@noble/curves/bn254.js";
import { G2, R } from "./proofs.ts";

const { Fp2 } = bn254.fields;
type G2Point = ReturnType<typeof G2.fromAffine>;

/** Points of the twist outside the subgroup are |E'| / r of all: this many. */
export const COFACTOR = BigInt("0x30644e72e131a029b85045b68181585e06ceecda572a2489345f2299c0f9fa8d");

/** A point of the twist with x = (n, 1) for the smallest n at or above `from`: in the subgroup with odds 2^-254. */
export function twistPoint(from = 1n): G2Point {
  for (let n = from; ; n++) {
    const x = Fp2.fromBigTuple([n, 1n]);
    try {
      const y = Fp2.sqrt(Fp2.add(Fp2.mul(Fp2.sqr(x), x), G2.CURVE().b));
      return G2.fromAffine({ x, y });
    } catch {
      // Not a square: no point has this x.
    }
  }
}

/** A point whose order divides the cofactor: times the order of G2, which noble's own multiplication does not take. */
export function cofactorPoint(from = 1n): G2Point {
  const point = twistPoint(from);
  return point.multiplyUnsafe(R - 1n).add(point);
}

export function affine(point: G2Point): [[bigint, bigint], [bigint, bigint]] {
  const { x, y } = point.toAffine();
  return [
    [x.c0, x.c1],
    [y.c0, y.c1],
  ];
}
