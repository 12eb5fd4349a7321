import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import type { Form } from "../src/form.ts";
import type { Point } from "../src/points.ts";
import { systemOf } from "../src/r1cs.ts";
import type { Fact } from "../src/steps.ts";
import { free } from "./free.ts";
import { range } from "./random-circuit.ts";
import { randomLadder } from "./random-ladder.ts";
import { onEdwards, onMontgomery, type SmallCurve, smallCurve } from "./small-curve.ts";
import { smallFieldRules } from "./small-field.ts";
import { solutions } from "./solutions.ts";

const CIRCUITS = fuzzSize(300, 4_000);
/** Any of the solutions can contradict a lemma. */
const MAX_SOLUTIONS = 20_000;
/** Curves with 40 and with 88 points. */
const CURVES = [smallCurve(43, 4), smallCurve(71, 23)];

const LEMMAS = [
  ...["curve", "double", "odd", "minus_one", "edwards", "scale", "sign"],
  ...["window", "start", "add", "added", "baby_check", "complete", "completed"],
  ...["table", "lift", "twice", "sum", "choice", "lower", "replace"],
];

/** The forms that a fact shows not to be 0. */
const nonzeroForms = (fact: Fact): readonly Form[] => [
  ...("form" in fact && fact.form !== undefined ? [fact.form] : []),
  ...("forms" in fact ? fact.forms : []),
];
const pointOf = (fact: Fact): Point | undefined => ("result" in fact ? fact.result : undefined);
function edwardsOf(fact: Fact): readonly [Form, Form] | undefined {
  if (fact.rule === "replace") return fact.coordinates;
  return "x" in fact && "y" in fact ? [fact.x.left, fact.y.left] : undefined;
}

const valueAt = ({ constant, wires, coefficients }: Form, values: Uint8Array, p: number): number =>
  wires.reduce((sum, wire, i) => sum + Number(coefficients[i]) * (values[wire] as number), Number(constant)) % p;

async function fuzz(curve: SmallCurve): Promise<Map<string, number>> {
  const rules = await smallFieldRules(curve);
  const random = new Random(`lemmas ${curve.p}`);
  const used = new Map<string, number>();
  for (let i = 0; i < CIRCUITS; i++) {
    const circuit = randomLadder(random, curve);
    const { wires, constraints, inputs } = circuit;
    const normalized = new rules.Normalized(systemOf(wires, 0, constraints));
    const facts = new rules.Facts(normalized);
    facts.scan();
    const determined = new rules.Determined(normalized, facts, inputs, []);
    const signs = determined.steps.flatMap((step) => (step.rule === "sign" ? [step.wire] : []));
    const known = range(1, wires - 1).filter((wire) => determined.isDetermined(wire));
    const all = solutions(circuit, curve.p, MAX_SOLUTIONS);
    const name = `circuit ${i}`;
    expect(free(all, [...inputs, ...signs], known), name).to.deep.equal([]);
    for (const fact of facts.steps) {
      used.set(fact.rule, (used.get(fact.rule) ?? 0) + 1);
      for (const form of nonzeroForms(fact))
        expect(
          all.some((values) => valueAt(form, values, curve.p) === 0),
          `${name}: ${fact.rule}`,
        ).to.equal(false);
      const at = (form: Form) => (values: Uint8Array) => valueAt(form, values, curve.p);
      const edwards = edwardsOf(fact);
      if (edwards !== undefined) {
        const [x, y] = [at(edwards[0]), at(edwards[1])];
        expect(
          all.every((values) => onEdwards([x(values), y(values)], curve)),
          `${name}: ${fact.rule}`,
        ).to.equal(true);
      }
      const point = pointOf(fact);
      if (point === undefined) continue;
      const isPoint = (values: Uint8Array) =>
        onMontgomery(valueAt(point.u, values, curve.p), valueAt(point.v, values, curve.p), curve);
      expect(all.every(isPoint), `${name}: ${fact.rule}`).to.equal(true);
    }
  }
  return used;
}

describe("lemmas of the certificate over small curves, against all assignments", function () {
  slow(this, "each circuit is solved by brute force");

  for (const curve of CURVES)
    it(`claim nothing that is false in random ladders over the field of ${curve.p}`, async () => {
      const used = await fuzz(curve);
      // Circuits on which no lemma worked would show nothing. Over the field of 43, a multiple of 5 stops every step.
      for (const lemma of curve.order > 5 ? [...LEMMAS, "step", "stepped"] : LEMMAS)
        expect(used.get(lemma), lemma).to.be.above(CIRCUITS / 100);
    });
});
