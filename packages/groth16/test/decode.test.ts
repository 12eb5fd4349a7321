import { bn254 } from "@noble/curves/bn254.js";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { subgroupPoint, twistPoint } from "@sotto/test-kit/twist-points";
import { assert } from "chai";
import { decodeProof, decodeProofOnCurves, decodeSignals, encodeProof, type Groth16ErrorCode } from "../src/index.ts";
import { assertG2 } from "../src/proof/decode.ts";
import { BASE_FIELD_ORDER as q, SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";

const a = bn254.G1.Point.BASE.multiply(11n).toAffine();
const c = bn254.G1.Point.BASE.multiply(13n).toAffine();
const b = subgroupPoint(12n);
const WORDS = [a.x, a.y, ...b.x, ...b.y, c.x, c.y].map(String);

function withWord(index: number, word: unknown): string[] {
  return WORDS.with(index, word as string);
}

describe("strict decoding", function () {
  slow(this, "a circuit is compiled, and proofs made");
  it("has the orders of BN254 (EIP-196)", () => {
    assert.equal(q, 21888242871839275222246405745257275088696311157297823662689037894645226208583n);
    assert.equal(r, 21888242871839275222246405745257275088548364400416034343698204186575808495617n);
  });

  it("decodes and encodes group elements without change", () => {
    assert.deepEqual(encodeProof(decodeProof(WORDS)), WORDS);
  });

  for (const [what, words] of [
    ["seven words", WORDS.slice(1)],
    ["nine words", [...WORDS, "1"]],
    ["no array", WORDS.join(",")],
    ["nothing", undefined],
    ["a hole", Object.assign([...WORDS.slice(0, 7)], { length: 8 })],
  ] as const) {
    it(`rejects ${what}`, async () => {
      await expectRejected("PROOF_MALFORMED", () => decodeProof(words as string[]));
    });
  }

  const BAD_WORDS: [string, (word: string) => unknown, Groth16ErrorCode][] = [
    ["a leading zero", (word) => `0${word}`, "PROOF_MALFORMED"],
    ["a plus sign", (word) => `+${word}`, "PROOF_MALFORMED"],
    ["a minus sign", (word) => `-${word}`, "PROOF_MALFORMED"],
    ["a space", (word) => ` ${word}`, "PROOF_MALFORMED"],
    ["a line break", (word) => `${word}\n`, "PROOF_MALFORMED"],
    ["hexadecimal", (word) => `0x${BigInt(word).toString(16)}`, "PROOF_MALFORMED"],
    ["the empty string", () => "", "PROOF_MALFORMED"],
    ["a bigint", (word) => BigInt(word), "PROOF_MALFORMED"],
    ["a very long number", (word) => word.repeat(100), "PROOF_MALFORMED"],
    ["its alias x + q", (word) => String(BigInt(word) + q), "PROOF_COORDINATE_RANGE"],
    ["q", () => String(q), "PROOF_COORDINATE_RANGE"],
  ];
  for (const [what, change, code] of BAD_WORDS) {
    it(`rejects ${what} in any word, and names the word`, async () => {
      for (const [index, name] of ["a.x", "a.y", "b.x0", "b.x1", "b.y0", "b.y1", "c.x", "c.y"].entries()) {
        const error = await expectRejected(code, () => decodeProof(withWord(index, change(WORDS[index] ?? ""))));
        assert.equal(error.details["word"], name);
      }
    });
  }

  it("rejects a coordinate that is off by one", async () => {
    for (const [index, point] of [..."aabbbbcc"].entries()) {
      const word = String((BigInt(WORDS[index] ?? 0) + 1n) % q);
      const error = await expectRejected("PROOF_NOT_ON_CURVE", () => decodeProof(withWord(index, word)));
      assert.equal(error.details["point"], point);
    }
  });

  it("rejects infinity", async () => {
    for (const point of ["a", "b", "c"]) {
      const words = WORDS.map((word, index) => ("aabbbbcc"[index] === point ? "0" : word));
      const error = await expectRejected("PROOF_AT_INFINITY", () => decodeProof(words));
      assert.equal(error.details["point"], point);
    }
  });

  it("rejects a B on the twist but outside the subgroup", async () => {
    const outside = twistPoint();
    const words = [...WORDS.slice(0, 2), ...[...outside.x, ...outside.y].map(String), ...WORDS.slice(6)];
    await expectRejected("PROOF_NOT_IN_SUBGROUP", () => decodeProof(words));
    // decodeProofOnCurves accepts the point, but rejects one off the twist.
    assert.deepEqual(encodeProof(decodeProofOnCurves(words)), words);
    await expectRejected("PROOF_NOT_ON_CURVE", () => decodeProofOnCurves(words.with(2, "7")));
  });

  it("rejects a B whose order is the twist's smallest cofactor prime, 10069", async () => {
    // A check by a random combination of many points would miss it once in 10069 times.
    const { x, y } = twistPoint();
    const { Fp2 } = bn254.fields;
    const point = bn254.G2.Point.fromAffine({ x: Fp2.fromBigTuple(x), y: Fp2.fromBigTuple(y) });
    const cofactor = BigInt("0x30644e72e131a029b85045b68181585e06ceecda572a2489345f2299c0f9fa8d");
    assert.equal(cofactor % 10069n, 0n);
    const small = point
      .multiplyUnsafe(cofactor / 10069n)
      .multiplyUnsafe(r - 1n)
      .add(point.multiplyUnsafe(cofactor / 10069n));
    assert.isFalse(small.is0());
    assert.isTrue(small.multiplyUnsafe(10069n).is0());
    const affine = small.toAffine();
    await expectRejected("PROOF_NOT_IN_SUBGROUP", () =>
      assertG2("b", [affine.x.c0, affine.x.c1], [affine.y.c0, affine.y.c1]),
    );
  });

  it("agrees on the subgroup with multiplication by r, on points inside and outside", async () => {
    const { Fp2 } = bn254.fields;
    for (let k = 1n; k <= 5n; k++) {
      const inside = subgroupPoint(k * 0x1234567890abcdefn);
      assertG2("b", inside.x, inside.y);
      const { x, y } = twistPoint(k * 1000n);
      const point = bn254.G2.Point.fromAffine({ x: Fp2.fromBigTuple(x), y: Fp2.fromBigTuple(y) });
      assert.isFalse(
        point
          .multiplyUnsafe(r - 1n)
          .add(point)
          .is0(),
      );
      await expectRejected("PROOF_NOT_IN_SUBGROUP", () => assertG2("b", x, y));
    }
  });

  it("accepts the expected number of signals from 0 to r - 1", () => {
    assert.deepEqual(decodeSignals(["0", String(r - 1n)], 2), [0n, r - 1n]);
    assert.deepEqual(decodeSignals([], 0), []);
  });

  it("rejects other counts, spellings and aliases of signals", async () => {
    for (const bad of [[], ["1"], ["1", "2", "3"], "12", null]) {
      await expectRejected("SIGNALS_MALFORMED", () => decodeSignals(bad as string[], 2));
    }
    for (const word of ["01", "-1", "0x1", "", " 1", "1.0", "1e3", 1, 1n, null]) {
      const error = await expectRejected("SIGNALS_MALFORMED", () => decodeSignals(["1", word as string], 2));
      assert.equal(error.details["index"], 1);
    }
    for (const word of [r, r + 1n, q]) {
      await expectRejected("SIGNAL_RANGE", () => decodeSignals([String(word)], 1));
    }
  });
});
