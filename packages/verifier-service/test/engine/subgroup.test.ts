import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { Curve, type Pointer, SIZE } from "../../src/engine/curve.ts";
import { Subgroup, PARAMETER as x } from "../../src/engine/subgroup.ts";
import { affine, COFACTOR, cofactorPoint, twistPoint } from "./support/points.ts";
import { G2, Q, R } from "./support/proofs.ts";

type Twist = ReturnType<typeof twistPoint>;

describe("the engine's subgroup check", function () {
  slow(this, "workers and proofs");
  let subgroup: Subgroup;
  let curve: Curve;
  let memory: Pointer;
  before(async () => {
    curve = await Curve.load();
    subgroup = new Subgroup(curve);
    memory = curve.alloc(SIZE.g2);
  });
  const contains = (point: Twist): boolean => {
    curve.writeG2(memory, affine(point));
    return subgroup.contains(memory);
  };

  it("rejects every point outside", () => {
    // psi satisfies psi² - t·psi + q = 0 on the twist, so the checked combination of its powers is u + v·psi. The order of
    // any point that satisfies it divides the norm of u + v·psi.
    const t = 6n * x * x + 1n;
    const times = ([u, v]: readonly [bigint, bigint]): [bigint, bigint] => [-Q * v, u + t * v];
    const psi: [bigint, bigint] = [0n, 1n];
    const [psi2, psi3] = [times(psi), times(times(psi))];
    const u = x + 1n + x * psi[0] + x * psi2[0] - 2n * x * psi3[0];
    const v = x * psi[1] + x * psi2[1] - 2n * x * psi3[1];
    const norm = u * u + t * u * v + Q * v * v;
    assert.equal(norm % R, 0n);
    assert.equal(gcd(norm < 0n ? -norm : norm, R * COFACTOR), R);
    assert.notEqual(COFACTOR % R, 0n);
  });

  it("accepts multiples of the generator", () => {
    for (const k of [1n, 2n, 3n, x, R - 1n, 0x1234567890abcdefn ** 3n]) assert.isTrue(contains(G2.BASE.multiply(k)));
  });

  it("rejects points of the twist of any order", () => {
    assert.equal(COFACTOR % 10069n, 0n);
    const outside = [1n, 100n, 10_000n].map(twistPoint);
    const cofactor = cofactorPoint();
    const small = cofactor.multiplyUnsafe(COFACTOR / 10069n);
    assert.isFalse(small.is0());
    assert.isTrue(small.multiplyUnsafe(10069n).is0());
    const shifted = [cofactor, small].map((point) => point.add(G2.BASE));
    for (const point of [...outside, cofactor, small, ...shifted]) {
      assert.isFalse(contains(point));
      assert.isFalse(point.isTorsionFree());
    }
  });
});

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}
