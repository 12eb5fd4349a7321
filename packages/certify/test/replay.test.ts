import { division } from "@sotto/test-kit/division-circuit";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { certifyFiles, problemLines, recheck, replayProof } from "../src/certify.ts";
import { Determined } from "../src/determine.ts";
import { Facts } from "../src/facts.ts";
import { Places } from "../src/locate.ts";
import { Normalized } from "../src/normalize.ts";
import { systemOf } from "../src/r1cs.ts";
import { BASE8, toMontgomery } from "../src/replay/curve.ts";
import { inverse, mod } from "../src/replay/field.ts";
import { prove } from "../src/theorem.ts";
import { compile } from "./compiled.ts";
import { type Circuit, randomCircuit, range } from "./random-circuit.ts";
import { r1csOf } from "./second-reader.ts";

const SYSTEMS = fuzzSize(1_500, 30_000);

/** The first checker's proof about a circuit, and the circuit for the second one. */
function proveSystem({ given, results, wires, constraints }: Circuit) {
  const system = systemOf(wires, given, constraints);
  const normalized = new Normalized(system);
  const facts = new Facts(normalized);
  facts.scan();
  const determined = new Determined(normalized, facts, range(1, given), range(1 + given, results));
  const left = range(1, wires - 1).filter((wire) => !determined.isDetermined(wire));
  return { proof: { normalized, facts, determined }, r1cs: r1csOf(system), left };
}

const constant = (value: bigint) => ({ constant: value, wires: [], coefficients: [] });
const wire = (index: number, coefficient = 1n) => ({ constant: 0n, wires: [index], coefficients: [coefficient] });

const filesOf = async (main: string) => {
  const { plain } = await compile(main);
  if (plain === undefined) throw new Error("compiled circuits have one");
  return plain;
};

describe("second checker of certificates, which shares no code with the first", function () {
  slow(this, "some thousand proofs are replayed");

  it("follows the proofs about random systems, and leaves the same wires", () => {
    const random = new Random("replay");
    let steps = 0;
    for (let i = 0; i < SYSTEMS; i++) {
      const circuit = randomCircuit(random);
      const { proof, r1cs, left } = proveSystem(circuit);
      expect(replayProof(r1cs, proof), `system ${i}`).to.deep.equal(left);
      steps += proof.determined.steps.length;
    }
    expect(steps).to.be.above(SYSTEMS / 4);
  });

  it("adds up the terms of a linear constraint before it counts unknown wires", () => {
    // 2 (w + y) = 2 y + a + b: y cancels, so a and b determine w. Without the y of one side it does not.
    const circuit = (y: bigint): Circuit => ({
      given: 2,
      results: 0,
      wires: 5,
      constraints: [[{ 0: 2n }, { 3: 1n, 4: 1n }, { 4: y, 1: 1n, 2: 1n }]],
    });
    const { proof, r1cs, left } = proveSystem(circuit(2n));
    expect(left).to.deep.equal([4]);
    expect(replayProof(r1cs, proof)).to.deep.equal(left);
    const other = proveSystem(circuit(3n));
    expect(other.left).to.deep.equal([3, 4]);
    expect(() => replayProof(other.r1cs, proof)).to.throw("step 0 (linear): another unknown wire");
  });

  it("refuses a case whose factor is not determined", () => {
    // F G = 0 and F Y = H for F = p1, G = w - a and H = w - p2; and w w = p1.
    const circuit: Circuit = {
      given: 2,
      results: 2,
      wires: 6,
      constraints: [
        [{ 3: 1n }, { 5: 1n, 1: -1n }, {}],
        [{ 3: 1n }, { 2: 1n }, { 5: 1n, 4: -1n }],
        [{ 5: 1n }, { 5: 1n }, { 3: 1n }],
      ],
    };
    const { proof, r1cs } = proveSystem(circuit);
    const leaves = (...givenPublic: number[]) => {
      const steps = [{ rule: "case", zero: 0, other: 1, wire: 5 }];
      return replayProof(r1cs, { ...proof, determined: { steps, givenPublic } as unknown as Determined });
    };
    expect(leaves(3, 4)).to.deep.equal([]);
    expect(() => leaves(4)).to.throw("step 0 (case): other unknown wires");
  });

  it("refuses a window with a wire that is no sign of its scale", () => {
    // t t = U / u and U t = (u / v) V for the point (u, v) that is Base8: V = v t^3. And s V = z: if t is 0, s has any value.
    const [T, Z, S, U, V] = [1, 2, 3, 4, 5];
    const [u, v] = toMontgomery(BASE8);
    const circuit: Circuit = {
      given: 2,
      results: 0,
      wires: 6,
      constraints: [
        [{ [T]: 1n }, { [T]: 1n }, { [U]: inverse(u) }],
        [{ [U]: 1n }, { [T]: 1n }, { [V]: mod(u * inverse(v)) }],
        [{ [S]: 1n }, { [V]: 1n }, { [Z]: 1n }],
      ],
    };
    const { proof, r1cs, left } = proveSystem(circuit);
    expect(left).to.include(S);
    const forged = (square: object) => [
      { rule: "start", point: { u: constant(u), v: constant(v) }, wires: [], centre: 2n, parts: [] },
      { rule: "scale", point: 0, square, cubes: [] },
      { rule: "window", by: 0, other: 1, uWire: U, vWire: V, scale: 1, wires: [T], centre: 0n, parts: [2n] },
      { rule: "odd", point: 2, form: wire(V) },
    ];
    const steps = [
      { rule: "linear", by: 0, wire: U, nonzero: -1 },
      { rule: "linear", by: 1, wire: V, nonzero: -1 },
      { rule: "linear", by: 2, wire: S, nonzero: 3 },
    ];
    const facts = forged({ by: -1, left: constant(v), right: constant(v), result: wire(0, mod(v * v)) });
    expect(() =>
      replayProof(r1cs, {
        ...proof,
        facts: { steps: facts } as unknown as Facts,
        determined: { steps, givenPublic: [] } as unknown as Determined,
      }),
    ).to.throw("fact 2 (window): a sign of another scale");
  });

  it("follows a hundred choices between one point and itself, whose intervals would double each time", () => {
    const BIT = 1;
    const circuit: Circuit = {
      given: 1,
      results: 0,
      wires: 2,
      constraints: [[{ [BIT]: 1n }, { [BIT]: 1n, 0: -1n }, {}]],
    };
    const { proof, r1cs } = proveSystem(circuit);
    const [u, v] = toMontgomery(BASE8);
    const result = { u: constant(u), v: constant(v) };
    const nothing = { by: -1, left: constant(0n), right: wire(BIT), result: constant(0n) };
    const steps = [
      { rule: "boolean", by: 0, wire: BIT },
      { rule: "table", bits: [], definitions: [], base: [BASE8.x, BASE8.y], multiples: [1n], result },
      ...range(1, 100).map((point) => ({
        rule: "choice",
        bit: BIT,
        zero: point,
        one: point,
        u: nothing,
        v: nothing,
        result,
      })),
    ];
    expect(replayProof(r1cs, { ...proof, facts: { steps } as unknown as Facts })).to.deep.equal([]);
  });

  it("refuses a proof without one of its steps, or about another circuit", async () => {
    const { r1cs } = await filesOf(division(true));
    const proof = prove(r1cs, r1cs);
    expect(recheck(proof, r1cs, r1cs)).to.deep.equal([]);
    for (const step of proof.determined.steps) {
      const steps = proof.determined.steps.filter((one) => one !== step);
      const { givenPublic } = proof.determined;
      const rest = { ...proof, determined: { steps, givenPublic } as unknown as Determined };
      expect(recheck(rest, r1cs, r1cs)).to.have.length(1);
    }
    const other = (await filesOf(division(false))).r1cs;
    expect(recheck(proof, other, other)).to.have.length(1);
    expect(recheck(proof, other, r1cs).join(), "a shipped file without a constraint").to.contain("does not derive 1");
  });

  it("refuses a divisor that is not 0 for another reason than the proof says", async () => {
    const { r1cs } = await filesOf(
      'pragma circom 2.0.0; include "circomlib/circuits/babyjub.circom"; component main = BabyAdd();',
    );
    const proof = prove(r1cs, r1cs);
    const facts = proof.facts.steps.filter((fact) => fact.rule === "nonsquare");
    expect(facts.map(({ root, definitions }) => [root.length, definitions.length])).to.deep.equal([
      [1, 1],
      [2, 4],
    ]);
    const refusals = (change: (fact: (typeof facts)[number]) => object) =>
      facts.map((fact) => {
        const steps = proof.facts.steps.map((one) => (one === fact ? { ...one, ...change(fact) } : one));
        return recheck({ ...proof, facts: { steps } as unknown as Facts }, r1cs, r1cs).join();
      });
    expect(refusals(() => ({}))).to.deep.equal(["", ""]);
    const identity = "the second checker refuses the proof: fact 0 (nonsquare): the identity does not hold";
    for (const change of [
      ({ c }) => ({ c: c + 1n }),
      ({ e }) => ({ e: e + 1n }),
      ({ root }) => ({ root: root.slice(1).length > 0 ? root.slice(1) : [...root, ...root] }),
      ({ definitions }) => ({ definitions: definitions.slice(1) }),
    ] satisfies ((fact: (typeof facts)[number]) => object)[])
      for (const [i, refusal] of refusals(change).entries())
        expect(refusal).to.equal(identity.replace("fact 0", `fact ${proof.facts.steps.indexOf(facts[i] as never)}`));
    expect(refusals(({ k }) => ({ k: -k })).join()).to.contain("the identity does not hold");
    expect(
      refusals(({ c, k, form: { constant, wires, coefficients } }) => ({
        c: 4n * c,
        k: 4n * k,
        form: { constant, wires, coefficients: coefficients.map((value) => value + 1n) },
      })).join(),
    ).to.contain("does not contain the divisor");
    expect(refusals(() => ({ c: 0n, k: 0n })).join()).to.contain("0 = 0");
    expect(refusals(({ k }) => ({ c: 4n * k })).join()).to.contain("c / k has a root");
    expect(refusals(({ definitions }) => ({ definitions: Array(13).fill(definitions[0]) })).join()).to.contain(
      "more than 12 definitions",
    );
    expect(refusals(({ definitions: [first] }) => ({ definitions: [{ ...first, wire: 1 }] })).join()).to.contain(
      "defines no wire",
    );
  });

  it("has its say before a verdict: a first checker that takes every factor for nonzero certifies nothing", async () => {
    const certify = async (checked: boolean) => {
      const files = await filesOf(division(checked));
      return certifyFiles({ name: "division", shipped: files.r1cs, plain: files, places: new Places([], String) });
    };
    const sound = Facts.prototype.nonzero;
    Facts.prototype.nonzero = () => -1;
    try {
      const result = await certify(false);
      expect(result.proof.free).to.deep.equal([]);
      expect(problemLines(result).join()).to.contain("the second checker refuses the proof: step 0 (linear)");
    } finally {
      Facts.prototype.nonzero = sound;
    }
    expect(problemLines(await certify(true))).to.deep.equal([]);
  });
});
