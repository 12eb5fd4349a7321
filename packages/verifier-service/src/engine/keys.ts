/** Prepares verification keys: precomputes everything that depends on the key alone. */
import type { VerificationKey } from "@sotto/groth16";
import { type Curve, type Pointer, SIZE } from "./curve.ts";
import { FixedPoints } from "./fixed-points.ts";

export interface PreparedKey {
  /** IC, nPublic + 1 points. */
  readonly ic: FixedPoints;
  readonly alpha: Pointer;
  /** e(alpha, beta). */
  readonly alphaBeta: Pointer;
  /** Line functions of the Miller loops with these points. */
  readonly beta: Pointer;
  readonly gamma: Pointer;
  readonly delta: Pointer;
}

/** Circuits of one ceremony share alpha, beta and gamma, so equal points are prepared once and paired once. */
export function prepareKeys(curve: Curve, keys: readonly VerificationKey[]): PreparedKey[] {
  const lines = new Map<string, Pointer>();
  const linesOf = (point: VerificationKey["vk_beta_2"]): Pointer => {
    const name = JSON.stringify(point);
    const known = lines.get(name);
    if (known !== undefined) return known;
    const made = curve.alloc(8 * curve.mcl._mclBn_getUint64NumToPrecompute());
    curve.mcl._mclBn_precomputeG2(made, g2(curve, point));
    lines.set(name, made);
    return made;
  };
  return keys.map((key) => {
    const points = curve.alloc(SIZE.g1 * key.IC.length);
    for (const [index, [x, y]] of key.IC.entries()) curve.writeG1(points + SIZE.g1 * index, [BigInt(x), BigInt(y)]);
    const ic = new FixedPoints(curve, points, key.IC.length);
    const alpha = curve.alloc(SIZE.g1);
    curve.writeG1(alpha, [BigInt(key.vk_alpha_1[0]), BigInt(key.vk_alpha_1[1])]);
    const [loop, alphaBeta] = [curve.alloc(SIZE.gt), curve.alloc(SIZE.gt)];
    curve.mcl._mclBn_millerLoop(loop, alpha, g2(curve, key.vk_beta_2));
    curve.mcl._mclBn_finalExp(alphaBeta, loop);
    const [beta, gamma, delta] = [linesOf(key.vk_beta_2), linesOf(key.vk_gamma_2), linesOf(key.vk_delta_2)];
    return { ic, alpha, alphaBeta, beta, gamma, delta };
  });
}

function g2(curve: Curve, [x, y]: VerificationKey["vk_beta_2"]): Pointer {
  const point = curve.alloc(SIZE.g2);
  curve.writeG2(point, [
    [BigInt(x[0]), BigInt(x[1])],
    [BigInt(y[0]), BigInt(y[1])],
  ]);
  return point;
}
