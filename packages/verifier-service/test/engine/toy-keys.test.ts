// Keys whose secrets the test knows, for statements that cannot occur under the real keys.

import { decodeProof, parseVerificationKey } from "@sotto/groth16";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { createVerifyEngine } from "../../src/engine/index.ts";
import { affine } from "./support/points.ts";
import { G1, G2, oracle, R, words } from "./support/proofs.ts";

const mod = (value: bigint) => ((value % R) + R) % R;

/** alpha, beta and delta of the toy keys; gamma is 1. */
const [ALPHA, BETA, DELTA] = [11n, 13n, 17n];
const g1Json = (scalar: bigint) => {
  const { x, y } = G1.BASE.multiply(mod(scalar)).toAffine();
  return [String(x), String(y), "1"];
};
const g2Json = (scalar: bigint) => {
  const [x, y] = affine(G2.BASE.multiply(scalar));
  return [x.map(String), y.map(String), ["1", "0"]];
};

function toyKey(ic: readonly bigint[]): Record<string, unknown> {
  const points = {
    vk_alpha_1: g1Json(ALPHA),
    vk_beta_2: g2Json(BETA),
    vk_gamma_2: g2Json(1n),
    vk_delta_2: g2Json(DELTA),
  };
  return { protocol: "groth16", curve: "bn128", nPublic: ic.length - 1, ...points, IC: ic.map(g1Json) };
}

/** A proof with A = a and B = 5; C is computed from them. */
function forge(ic: readonly bigint[], signals: readonly bigint[], a: bigint): string[] {
  const statement = signals.reduce((sum, signal, index) => sum + signal * ic[index + 1]!, ic[0]!);
  const delta = inverse(DELTA);
  return words(
    G1.BASE.multiply(a),
    G2.BASE.multiply(5n),
    G1.BASE.multiply(mod((a * 5n - ALPHA * BETA - statement) * delta)),
  );
}

function inverse(value: bigint): bigint {
  let [result, base] = [1n, mod(value)];
  for (let exponent = R - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = mod(result * base);
    base = mod(base * base);
  }
  return result;
}

describe("edge cases", function () {
  slow(this, "workers and proofs");
  const IC = [7n, -7n, 3n];
  const keys = { vanishing: toyKey(IC), bare: toyKey([19n]) };
  it("verify if the sum of the signals is the point at infinity, alone and in a batch", async () => {
    const engine = closedAfterTest(await createVerifyEngine({ verificationKeys: keys, workers: 1 }));
    // IC[0] + 1·IC[1] + 0·IC[2] is the point at infinity, which mcl's precomputed Miller loop then receives.
    const proof = forge(IC, [1n, 0n], 23n);
    const key = parseVerificationKey(keys.vanishing);
    assert.isTrue(oracle(key, { points: decodeProof(proof), signals: [1n, 0n] }));
    assert.isTrue(await engine.verify("vanishing", proof, ["1", "0"], "first"));
    assert.isFalse(await engine.verify("vanishing", proof, ["1", "1"], "first"));
    const others = [forge(IC, [2n, 5n], 29n), forge([19n], [], 31n)];
    const results = await Promise.all([
      engine.verify("vanishing", proof, ["1", "0"], "second"),
      engine.verify("vanishing", proof, ["1", "0"], "second"),
      engine.verify("vanishing", others[0]!, ["2", "5"], "second"),
      engine.verify("bare", others[1]!, [], "second"),
      engine.verify("vanishing", others[0]!, ["2", "6"], "second"),
      engine.verify("bare", proof, [], "second"),
    ]);
    assert.deepEqual(results, [true, true, true, true, false, false]);
  });
});
