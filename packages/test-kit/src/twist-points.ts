/** Points that a careless verifier would accept. */
import { bn254 } from "@noble/curves/bn254.js";

const { Fp2 } = bn254.fields;

/** A point of the twist with x = (n, 1) for the smallest n at or above `from`: in the subgroup with probability 2^-254. */
export function twistPoint(from = 1n): { x: [bigint, bigint]; y: [bigint, bigint] } {
  for (let n = from; ; n++) {
    const x = Fp2.fromBigTuple([n, 1n]);
    const square = Fp2.add(Fp2.mul(Fp2.sqr(x), x), bn254.G2.Point.CURVE().b);
    try {
      const y = Fp2.sqrt(square);
      return { x: [x.c0, x.c1], y: [y.c0, y.c1] };
    } catch {
      // The value is not a square, so no point has this x.
    }
  }
}

/** A point of the subgroup: k times the generator of G2. */
export function subgroupPoint(k: bigint): { x: [bigint, bigint]; y: [bigint, bigint] } {
  const { x, y } = bn254.G2.Point.BASE.multiply(k).toAffine();
  return { x: [x.c0, x.c1], y: [y.c0, y.c1] };
}
