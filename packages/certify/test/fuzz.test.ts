import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { systemOf } from "../src/r1cs.ts";
import { free } from "./free.ts";
import { randomAddition } from "./random-addition.ts";
import { type Circuit, type Constraint, randomCircuit, range, SMALL } from "./random-circuit.ts";
import { smallFieldRules } from "./small-field.ts";
import { solutions } from "./solutions.ts";

const SYSTEMS = fuzzSize(6_000, 300_000);
const ADDITIONS = fuzzSize(2_000, 50_000);
const rules = await smallFieldRules();

/** What the first checker says about a circuit over the small field. */
function check({ given, results, wires, constraints }: Circuit) {
  const normalized = new rules.Normalized(systemOf(wires, given + results, constraints));
  const facts = new rules.Facts(normalized);
  facts.scanConstraints();
  facts.scanDivisors();
  const determined = new rules.Determined(normalized, facts, range(1, given), range(1 + given, results));
  return {
    normalized,
    facts,
    determined,
    given: [...range(1, given), ...determined.givenPublic],
    known: range(1, wires - 1).filter((wire) => determined.isDetermined(wire)),
  };
}

/** p1 (w - a) = 0, p1 Y = w - p2 and w w = p1, for the inputs a, Y and the public p1, p2. */
const TWO_WITNESSES: Circuit = {
  given: 2,
  results: 2,
  wires: 6,
  constraints: [
    [{ 3: 1n }, { 5: 1n, 1: 4n }, {}],
    [{ 3: 1n }, { 2: 1n }, { 5: 1n, 4: 4n }],
    [{ 5: 1n }, { 5: 1n }, { 3: 1n }],
  ],
};

/** p1 p3 = w - p2, p1 (w - p3) = 0 and w w = p3, for the public p1, p2, p3. */
const TWO_WITNESSES_PUBLIC: Circuit = {
  given: 0,
  results: 3,
  wires: 5,
  constraints: [
    [{ 1: 1n }, { 3: 1n }, { 4: 1n, 2: 4n }],
    [{ 1: 1n }, { 4: 1n, 3: 4n }, {}],
    [{ 4: 1n }, { 4: 1n }, { 3: 1n }],
  ],
};

describe("rules of the certificate over a field of 5, against all assignments", function () {
  slow(this, "each of some thousand systems is solved by brute force");

  it("claim no wire that has two values in random systems", () => {
    const random = new Random("rules");
    const used = new Map<string, number>();
    for (let i = 0; i < SYSTEMS; i++) {
      const circuit = randomCircuit(random);
      const { normalized, facts, determined, given, known } = check(circuit);
      const all = solutions(circuit);
      const shown = () =>
        `system ${i}: ${JSON.stringify(circuit, (_, value) => (typeof value === "bigint" ? Number(value) : value))}`;
      expect(free(all, given, known), shown()).to.deep.equal([]);
      for (const wire of facts.booleans)
        expect(
          all.every((values) => (values[wire] as number) < 2),
          shown(),
        ).to.equal(true);
      if (normalized.contradictions.length > 0) expect(all, shown()).to.deep.equal([]);
      for (const { rule } of determined.steps) used.set(rule, (used.get(rule) ?? 0) + 1);
    }
    // Systems on which no rule worked would show nothing.
    for (const rule of ["linear", "bits", "one_hot", "case", "system"])
      expect(used.get(rule), rule).to.be.above(SYSTEMS / 500);
  });

  it("claim no divisor nonzero that is 0 in an assignment, in random additions by Edwards' formulas", () => {
    const random = new Random("additions");
    const used = new Map<string, number>();
    for (let i = 0; i < ADDITIONS; i++) {
      const circuit = randomAddition(random);
      const { facts, given, known } = check(circuit);
      const all = solutions(circuit);
      expect(free(all, given, known), `addition ${i}`).to.deep.equal([]);
      for (const fact of facts.steps) {
        if (fact.rule !== "nonsquare") continue;
        const { constant, wires, coefficients } = fact.form;
        const value = (values: Uint8Array) =>
          wires.reduce((sum, wire, j) => sum + Number(coefficients[j]) * (values[wire] as number), Number(constant));
        expect(
          all.some((values) => value(values) % SMALL === 0),
          `addition ${i}`,
        ).to.equal(false);
        const kind = `${fact.root.length} ${fact.k === 0n ? "no square" : "nonsquare"}`;
        used.set(kind, (used.get(kind) ?? 0) + 1);
      }
    }
    for (const kind of ["1 nonsquare", "2 nonsquare", "2 no square"])
      expect(used.get(kind), kind).to.be.above(ADDITIONS / 50);
  });

  // A trial of a public input must leave nothing behind: the first constraint determines w only if p1 is known.
  for (const { name, circuit, missing } of [
    { name: "inputs a and Y, public p1 and p2", circuit: TWO_WITNESSES, missing: 3 },
    { name: "public p1, p2 and p3", circuit: TWO_WITNESSES_PUBLIC, missing: 3 },
  ])
    it(`give every public input of a circuit that has two witnesses for fewer: ${name}`, () => {
      const { given, known } = check(circuit);
      const inputs = range(1, circuit.wires - 2);
      expect(given).to.deep.equal(inputs);
      expect(known).to.deep.equal([...inputs, circuit.wires - 1]);
      const fewer = inputs.filter((wire) => wire !== missing);
      expect(free(solutions(circuit), fewer, known)).to.deep.equal([missing, circuit.wires - 1]);
    });

  it("call a public input a result if the others determine it (control)", () => {
    const [zero, quotient] = TWO_WITNESSES.constraints as [Constraint, Constraint];
    const circuit = { ...TWO_WITNESSES, constraints: [zero, quotient, [{}, {}, { 1: 1n, 2: 1n, 3: 4n }] as const] };
    const { given, known } = check(circuit);
    expect(given).to.deep.equal([1, 2, 4]);
    expect(known).to.deep.equal([1, 2, 3, 4, 5]);
    expect(free(solutions(circuit), given, known)).to.deep.equal([]);
  });
});
