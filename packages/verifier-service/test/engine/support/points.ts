// Points outside the subgroup, which a verifier must refuse.
import { bn254 } from "@noble/curves/bn254.js";
import { G2, R } from "./proofs.ts";

const { Fp2 } = bn254.fields;
type G2Point = ReturnType<typeof G2.fromAffine>;

/** The cofactor of the subgroup: the number of points of the twist divided by r. */
export const COFACTOR = BigInt("0x30644e72e131a029b85045b68181585e06ceecda572a2489345f2299c0f9fa8d");

/** A point of the twist with x = (n, 1), for the smallest n from `from` on. It is in the subgroup with probability 2^-254. */
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

/** A point whose order divides the cofactor. It is multiplied by the order of G2, which noble's multiplication does not accept. */
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
