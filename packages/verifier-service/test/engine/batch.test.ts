import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { BATCH_SIZE, Batch } from "../../src/engine/batch.ts";
import { Curve } from "../../src/engine/curve.ts";
import { prepareKeys } from "../../src/engine/keys.ts";
import { PROOF_RESULT, type Statement } from "../../src/engine/proof-statement.ts";
import { affine, cofactorPoint } from "./support/points.ts";
import { CIRCUITS, claim, claims, G1, g1, g2, oracle, PARSED, statement, tampered, words } from "./support/proofs.ts";

describe("a batch of proofs", function () {
  slow(this, "workers and proofs");
  let batch: Batch;
  before(async () => {
    const curve = await Curve.load();
    batch = new Batch(curve, prepareKeys(curve, PARSED));
  });
  const good = claims(BATCH_SIZE).map(statement);
  const bad = claims(BATCH_SIZE).map((each, index) => statement(tampered(each, index % 6)));
  const expectFalse = (statements: readonly Statement[], wrong: readonly number[]) => {
    const expected = statements.map((_, index) => (wrong.includes(index) ? PROOF_RESULT.false : PROOF_RESULT.true));
    assert.deepEqual(batch.verify(statements), expected);
  };

  it("is valid if all its proofs are, for one circuit or several", () => {
    expectFalse(good, []);
    for (const circuit of CIRCUITS)
      expectFalse(
        [0, 1, 2, 3].map((index) => statement(claim(circuit, index))),
        [],
      );
    for (let count = 1; count <= 5; count++) expectFalse(good.slice(0, count), []);
    assert.deepEqual(batch.verify([]), []);
  });

  it("finds an invalid proof at any position", () => {
    for (const place of [0, 1, 15, 16, 31]) expectFalse(good.with(place, bad[place]!), [place]);
    for (let count = 1; count <= 4; count++) {
      for (let place = 0; place < count; place++) expectFalse(good.slice(0, count).with(place, bad[place]!), [place]);
    }
  });

  it("finds several invalid proofs, even if all are invalid", () => {
    const wrong = [3, 4, 11, 30];
    expectFalse(
      good.map((each, index) => (wrong.includes(index) ? bad[index]! : each)),
      wrong,
    );
    expectFalse(
      bad.slice(0, 9),
      bad.slice(0, 9).map((_, index) => index),
    );
  });

  it("detects errors that cancel each other", () => {
    // One proof's C is moved by D and the other's by -D, so the product of the two equations without weights is still 1.
    const [one, two] = [claim("payment", 0), claim("payment", 1)].map(statement) as [Statement, Statement];
    const D = G1.BASE.multiply(987654321n);
    const moved = (of: Statement, by: typeof D): Statement => {
      const { a, b, c } = of.points;
      const proof = words(g1(a), g2(b), g1(c).add(by));
      return statement({ circuit: "payment", proof, signals: of.signals.map(String) });
    };
    const pair = [moved(one, D), moved(two, D.negate())];
    for (const each of pair) assert.isFalse(oracle(PARSED[each.key]!, each));
    expectFalse(pair, [0, 1]);
    expectFalse([...pair, good[0]!, good[1]!], [0, 1]);
    // The same with three proofs: one C is moved by 2D and two by -D.
    expectFalse([moved(one, D.double()), moved(two, D.negate()), moved(two, D.negate())], [0, 1, 2]);
  });

  it("gives equal proofs in a batch the same result", () => {
    expectFalse([good[0]!, bad[2]!, good[0]!, bad[2]!, good[0]!], [1, 3]);
  });

  it("rejects a B outside the subgroup and verifies the others", () => {
    const { points, ...rest } = good[2]!;
    const outside = affine(g2(points.b).add(cofactorPoint()));
    const statements = [good[0]!, { ...rest, points: { ...points, b: outside } }, bad[1]!, good[3]!];
    assert.deepEqual(batch.verify(statements), [
      PROOF_RESULT.true,
      PROOF_RESULT.notInSubgroup,
      PROOF_RESULT.false,
      PROOF_RESULT.true,
    ]);
    assert.deepEqual(batch.verify([statements[1]!]), [PROOF_RESULT.notInSubgroup]);
  });

  it("rejects more proofs than its maximum", () => {
    assert.throws(() => batch.verify([...good, good[0]!]), RangeError);
    expectFalse(good, []);
  });
});
