import { expect } from "chai";
import { Determined } from "../src/determine.ts";
import { Facts } from "../src/facts.ts";
import { Normalized } from "../src/normalize.ts";
import { type Side, systemOf } from "../src/r1cs.ts";
import { type Constraint, range } from "./random-circuit.ts";

/** Counts how often a constraint is read. */
class Counted extends Normalized {
  reads = 0;

  override sides(constraint: number) {
    this.reads++;
    return super.sides(constraint);
  }
}

/** Links of a chain: each determines its last wire from the last wire of the link before it. */
type Link = (before: number, first: number) => { readonly wires: number; readonly constraints: Constraint[] };

const bits = (number: number, first: number, count: number): Constraint[] => [
  ...range(first, count).map((bit): Constraint => [{ [bit]: 1n }, { [bit]: 1n, 0: -1n }, {}]),
  [{}, {}, { [number]: -1n, ...Object.fromEntries(range(0, count).map((i) => [first + i, 1n << BigInt(i)])) }],
];
const LINKS: Readonly<Record<string, { rule: string; link: Link }>> = {
  "divisions by 8": {
    rule: "division",
    link: (before, first) => {
      const [remainder, quotient] = [first + 7, first + 8];
      const division: Side = { [before]: -1n, [quotient]: 8n, [remainder]: 1n };
      const constraints = [...bits(remainder, first, 3), ...bits(quotient, first + 3, 4)];
      return { wires: 9, constraints: [...constraints, [{}, {}, division]] };
    },
  },
  "square roots": {
    rule: "root",
    link: (before, first) => {
      const root = first + 4;
      return { wires: 5, constraints: [...bits(root, first, 4), [{ [root]: 1n }, { [root]: 1n }, { [before]: 1n }]] };
    },
  },
  "tests for 0": {
    rule: "case",
    link: (before, first) => {
      const [hint, out] = [first, first + 1];
      const product: Constraint = [{ [before]: 1n }, { [hint]: 1n }, { 0: 1n, [out]: -1n }];
      return { wires: 2, constraints: [product, [{ [before]: 1n }, { [out]: 1n }, {}]] };
    },
  },
  "selections of one of four": {
    rule: "one_hot",
    link: (before, first) => {
      const flags = range(first, 4);
      const sum = { 0: -1n, ...Object.fromEntries(flags.map((flag) => [flag, 1n])) };
      const value = Object.fromEntries(flags.map((flag, i) => [flag, BigInt(i)]));
      const isPlace = flags.map((flag, i): Constraint => [{ [flag]: 1n }, { [before]: 1n, 0: -BigInt(i) }, {}]);
      return { wires: 5, constraints: [[{}, {}, sum], ...isPlace, [{}, {}, { ...value, [first + 4]: -1n }]] };
    },
  },
};

/** How often the rules read constraints of a chain. */
function readsOf(link: Link, rule: string, length: number): number {
  const constraints: Constraint[] = [];
  let wires = 2;
  for (let i = 0; i < length; i++) {
    const one = link(wires - 1, wires);
    constraints.push(...one.constraints);
    wires += one.wires;
  }
  const system = new Counted(systemOf(wires, 1, constraints));
  const facts = new Facts(system);
  facts.scanConstraints();
  system.reads = 0;
  const determined = new Determined(system, facts, [1], []);
  expect(determined.steps.filter((step) => step.rule === rule)).to.have.length(length);
  return system.reads;
}

describe("the first checker's work for a chain", () => {
  for (const [name, { rule, link }] of Object.entries(LINKS))
    it(`grows with the number of ${name}, not with its square`, () => {
      const [short, long] = [readsOf(link, rule, 100), readsOf(link, rule, 200)];
      expect(long / short).to.be.within(1.9, 2.2);
    });
});
