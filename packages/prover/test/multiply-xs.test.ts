import { babyjubjub } from "@noble/curves/misc.js";
import {
  addPoints,
  BASE8,
  deriveKeys,
  encryptAmount,
  FIELD_MODULUS,
  hintOf,
  multiplyPoint,
  multiplyXs,
  noteCommitment,
  noteSecrets,
  type Point,
  parseMonth,
  SUBGROUP_ORDER,
  scanNotes,
} from "@sotto/protocol";
import { randomBelow } from "@sotto/test-kit/random-below";
import { assert } from "chai";
import { createScanKernel } from "../src/scan/kernels.ts";
import { XMultiplier } from "../src/scan/multiply-xs.ts";
import { memoriesOf } from "./support/memories.ts";

const ROUNDS = process.env["SOTTO_LONG"] === "1" ? 40 : 2;
/** More than two chunks, and an odd number, so that one lane of the last pair is unused. */
const COUNT = 523;

const randomOdd = (): bigint => randomBelow(SUBGROUP_ORDER - 1n) | 1n;
const random = (): bigint => randomBelow(SUBGROUP_ORDER - 1n) + 1n;

/** circomlib's generator of the whole curve. */
const GENERATOR = {
  x: 995203441582195749578291179787384436505546430278305826713579947235728471134n,
  y: 5472060717959818805561601436314318772137091100104008585924551046643952123905n,
};
const ORDER_8 = addPoints(multiplyPoint(GENERATOR, SUBGROUP_ORDER - 1n), GENERATOR);

/** x(k P) by the point arithmetic of @noble/curves. */
function reference({ x, y }: Point, k: bigint): bigint {
  return babyjubjub.Point.fromAffine({ x, y }).multiplyUnsafe(k).toAffine().x;
}

describe("the x of many multiples in the kernel", () => {
  let multiplier: XMultiplier;
  before(async () => {
    const created = await XMultiplier.create();
    assert.isDefined(created, "these tests need relaxed SIMD and fused multiply-add");
    multiplier = created!;
  });

  it("equals the point arithmetic of @noble/curves", () => {
    const scalars = [1n, 3n, 5n, SUBGROUP_ORDER - 2n, SUBGROUP_ORDER - 4n, (1n << 250n) | 1n, randomOdd(), randomOdd()];
    const points = [BASE8, ...Array.from({ length: 4 }, () => multiplyPoint(BASE8, random()))];
    for (const k of scalars)
      assert.deepEqual(
        multiplier.multiply(
          points.map(({ x }) => x),
          [k],
        ),
        points.map((point) => [reference(point, k)]),
      );
    assert.deepEqual(
      multiplier.multiply(
        points.map(({ x }) => x),
        scalars,
      ),
      points.map((point) => scalars.map((k) => reference(point, k))),
    );
  });

  it("equals the reference with bigints in several chunks, also for an x that is not on the curve", () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const xs = Array.from({ length: COUNT }, () => randomBelow(FIELD_MODULUS));
      const edges = [1n, 2n, FIELD_MODULUS - 1n, FIELD_MODULUS - 2n, FIELD_MODULUS >> 1n];
      const k = randomOdd();
      assert.deepEqual(multiplier.multiply([...edges, ...xs], [k, 3n]), multiplyXs([...edges, ...xs], [k, 3n]));
    }
  });

  it("has no result for points of order 1, 2 and 4, and the right ones for their neighbours", () => {
    const { x: base } = multiplyPoint(BASE8, random());
    assert.deepEqual(multiplyPoint(ORDER_8, 8n), { x: 0n, y: 1n });
    const { x: lowOrder, y } = multiplyPoint(ORDER_8, 2n);
    assert.equal(y, 0n);
    const xs = [base, 0n, base, lowOrder, base, FIELD_MODULUS - lowOrder, ORDER_8.x, base];
    for (const k of [1n, 3n, randomOdd()]) {
      const results = multiplier.multiply(xs, [k, 5n]);
      assert.deepEqual(results, multiplyXs(xs, [k, 5n]));
      const none = [null, null];
      assert.deepEqual([results[1], results[3], results[5]], [none, none, none]);
      assert.deepEqual(results[0], results[7]);
    }
    assert.deepEqual(multiplier.multiply([0n], [3n]), [[null]]);
    assert.deepEqual(multiplier.multiply([], [3n]), []);
    assert.deepEqual(multiplier.multiply([base], []), [[]]);
  });

  it("finds a viewer's notes among others, and checks its arguments as `scanNotes` does", async () => {
    const pool = { chainId: 31337n, pool: `0x${"5a".repeat(20)}` };
    const [own, other] = [1, 2].map((seed) => deriveKeys(new Uint8Array(32).fill(seed), pool)) as [
      ReturnType<typeof deriveKeys>,
      ReturnType<typeof deriveKeys>,
    ];
    const viewer = {
      viewingKeys: [own.ofMonth(parseMonth("2026-12")).viewingKey, own.viewingKey],
      ownerTag: own.ownerTag(0),
    };
    const notes = Array.from({ length: 40 }, (_, i) => {
      const keys = i % 3 === 0 ? own : other;
      const { R, S } = encryptAmount(keys.encryptionKey, BigInt(i), random() >> 4n);
      const { blinding, pad } = noteSecrets(S.x, R.x);
      const recipientCommitment = noteCommitment({ amount: BigInt(i), ownerTag: keys.ownerTag(0), blinding });
      return { ephemeralX: R.x, amountHint: hintOf(pad, BigInt(i)), recipientCommitment };
    });
    const fast = await createScanKernel();
    assert.isDefined(fast);
    // A point without a result, before the viewer's last note.
    notes.splice(37, 0, { ...notes[0]!, ephemeralX: 0n });
    const found = scanNotes(viewer, notes, fast);
    assert.deepEqual(found, scanNotes(viewer, notes));
    assert.isNull(found[37]);
    assert.equal(found.at(-1)?.amount, 39n);
    assert.equal(found.filter((note) => note !== null).length, 14);
    for (const wrong of [FIELD_MODULUS, -1n, undefined])
      assert.throws(() => scanNotes(viewer, [{ ...notes[0]!, ephemeralX: wrong as bigint }], fast), /ephemeralX/);
    assert.throws(() => scanNotes({ ...viewer, viewingKeys: [2n] }, notes, fast), /odd/);
  });

  it("leaves neither the key nor a shared point in its memory", async () => {
    let fresh: XMultiplier | undefined;
    const [memory] = await memoriesOf(async () => {
      fresh = await XMultiplier.create();
    });
    const empty = Buffer.from(memory!.buffer.slice(0));
    fresh!.multiply([multiplyPoint(BASE8, random()).x], [randomOdd(), randomOdd()]);
    assert.isTrue(empty.equals(Buffer.from(memory!.buffer)));
  });
});
