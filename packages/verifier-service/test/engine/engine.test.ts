import { createVerifier } from "@sotto/prover";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { createVerifyEngine, type VerifyEngine } from "../../src/engine/index.ts";
import { affine, cofactorPoint } from "./support/points.ts";
import {
  CIRCUITS,
  type Claim,
  claim,
  claims,
  G1,
  g1,
  g2,
  KEYS,
  oracle,
  PARSED,
  Q,
  R,
  statement,
  tampered,
  words,
} from "./support/proofs.ts";

const [PAYMENT, RANGE] = [claim("payment"), claim("elgamal_range")];
const verifier = createVerifier({ vkeys: KEYS });

/** Claims that can be decoded. */
function decodable(): [string, Claim, boolean][] {
  const { a, b, c } = statement(PAYMENT).points;
  const with_ = (proof: string[]): Claim => ({ ...PAYMENT, proof });
  const [A, B, C] = [g1(a), g2(b), g1(c)];
  return [
    ...CIRCUITS.flatMap((circuit) =>
      ["random signals", "other random signals", "zeros", "r - 1 everywhere"].map(
        (what, index): [string, Claim, boolean] => [`${circuit} of ${what}`, claim(circuit, index), true],
      ),
    ),
    ...CIRCUITS.flatMap((circuit) =>
      claim(circuit).signals.map((_, index): [string, Claim, boolean] => [
        `${circuit} with another signal ${index}`,
        tampered(claim(circuit), index),
        false,
      ]),
    ),
    ["the proof of other signals", with_(claim("payment", 1).proof), false],
    ["the proof of another circuit", with_(RANGE.proof), false],
    ["A and C swapped", with_(words(C, B, A)), false],
    ["A negated", with_(words(A.negate(), B, C)), false],
    ["C negated", with_(words(A, B, C.negate())), false],
    ["C moved by the generator", with_(words(A, B, C.add(G1.BASE))), false],
    ["B doubled", with_(words(A, B.double(), C)), false],
    // Groth16 proofs can be changed into other valid proofs of the same statement, but not of another statement.
    ["A and B negated", with_(words(A.negate(), B.negate(), C)), true],
    ["A doubled and B halved", with_(words(A.double(), B.multiply((R + 1n) / 2n), C)), true],
  ];
}

describe("the verify engine", function () {
  slow(this, "workers and proofs");
  let engine: VerifyEngine;
  /** Each test is another client, because the proofs of a client with failed proofs are verified in smaller batches. */
  let client = 0;
  beforeEach(() => {
    client += 1;
  });
  before(async () => {
    engine = await createVerifyEngine({ verificationKeys: KEYS, workers: 1 });
  });
  after(() => engine.close());
  const verify = ({ circuit, proof, signals }: Claim) => engine.verify(circuit, proof, signals, String(client));

  it("agrees with @noble/curves and the prover's verifier on every claim", async () => {
    for (const [what, each, expected] of decodable()) {
      const { key, points, signals } = statement(each);
      assert.equal(oracle(PARSED[key]!, { points, signals }), expected, `${what}: noble`);
      assert.equal(await verifier.verify(each.circuit, each.proof, each.signals), expected, `${what}: prover`);
      assert.equal(await verify(each), expected, `${what}: engine, alone`);
    }
  });

  it("agrees with them on all claims at once", async () => {
    const all = decodable();
    const results = await Promise.all(all.map(([, each]) => verify(each)));
    assert.deepEqual(
      results,
      all.map(([, , expected]) => expected),
    );
  });

  it("isolates an invalid proof from its neighbours", async () => {
    const all = claims(32);
    const results = await Promise.all(all.map((each, index) => verify(index === 20 ? tampered(each) : each)));
    assert.deepEqual(
      results,
      all.map((_, index) => index !== 20),
    );
  });

  it("rejects the malformed proofs that the prover's verifier rejects, next to valid proofs", async () => {
    const { points } = statement(PAYMENT);
    const outside = affine(g2(points.b).add(cofactorPoint()));
    const proof = (change: (words: string[]) => unknown): Claim => ({
      ...PAYMENT,
      proof: change(PAYMENT.proof) as string[],
    });
    const signals = (change: (signals: string[]) => unknown): Claim => ({
      ...PAYMENT,
      signals: change(PAYMENT.signals) as string[],
    });
    const bad: [string, Claim][] = [
      ...PAYMENT.proof.map((_, index): [string, Claim] => [
        "PROOF_COORDINATE_RANGE",
        proof((words) => words.with(index, String(BigInt(words[index]!) + Q))),
      ]),
      ["PROOF_NOT_ON_CURVE", proof((words) => words.with(0, "1"))],
      ["PROOF_NOT_ON_CURVE", proof((words) => words.with(3, "1"))],
      ["PROOF_AT_INFINITY", proof((words) => ["0", "0", ...words.slice(2)])],
      ["PROOF_AT_INFINITY", proof((words) => [...words.slice(0, 2), "0", "0", "0", "0", ...words.slice(6)])],
      ["PROOF_AT_INFINITY", proof((words) => [...words.slice(0, 6), "0", "0"])],
      [
        "PROOF_NOT_IN_SUBGROUP",
        proof((words) => [...words.slice(0, 2), ...outside.flat().map(String), ...words.slice(6)]),
      ],
      ["PROOF_MALFORMED", proof((words) => words.slice(1))],
      ["PROOF_MALFORMED", proof((words) => words.with(5, `0${words[5]}`))],
      ["PROOF_MALFORMED", proof((words) => words.with(5, {} as string))],
      ["PROOF_MALFORMED", proof(() => undefined)],
      ["SIGNAL_RANGE", signals((all) => all.with(4, String(BigInt(all[4]!) + R)))],
      ["SIGNALS_MALFORMED", signals((all) => all.with(4, "-1"))],
      ["SIGNALS_MALFORMED", signals((all) => all.slice(1))],
      ["SIGNALS_MALFORMED", signals(() => null)],
      ["CIRCUIT_UNKNOWN", { ...PAYMENT, circuit: "toString" }],
      ["CIRCUIT_UNKNOWN", { ...PAYMENT, circuit: "__proto__" }],
    ];
    const neighbours = claims(4).map(verify);
    const errors = await Promise.all(bad.map(([, each]) => rejection(verify(each))));
    assert.deepEqual(
      errors.map(({ code }) => code),
      bad.map(([code]) => code),
    );
    assert.deepEqual(await Promise.all(neighbours), [true, true, true, true]);
    for (const [index, [, each]] of bad.entries()) {
      const reference = await rejection(verifier.verify(each.circuit, each.proof, each.signals));
      assert.equal(errors[index]!.message, reference.message);
    }
  });

  it("rejects malformed keys at start", async () => {
    const off = { ...(KEYS["payment"] as object), vk_alpha_1: ["1", "1", "1"] };
    const failure = await rejection(createVerifyEngine({ verificationKeys: { payment: off }, workers: 1 }));
    assert.equal(failure.code, "VERIFICATION_KEY_INVALID");
  });
});
