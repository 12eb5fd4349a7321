import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  BASE8,
  checkedEddsa,
  fixedBase,
  HEAD,
  including,
  type Parts,
  pedersen,
  variableBase,
} from "@sotto/test-kit/ladder-circuits";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { recheck } from "../src/certify.ts";
import { Explanation, readNames } from "../src/explain.ts";
import type { Facts } from "../src/facts.ts";
import { Places } from "../src/locate.ts";
import { certify } from "../src/outcome.ts";
import { P } from "../src/replay/field.ts";
import type { Fact } from "../src/steps.ts";
import { type Proof, prove } from "../src/theorem.ts";
import { compile, libraries } from "./compiled.ts";

const read = (name: string) =>
  readFileSync(join(libraries[0] as string, `circomlib/circuits/${name}.circom`), "utf8").replace(
    /^(\s*pragma .*|include .*)$/gm,
    "",
  );

/** The proof that all inputs determine the outputs, and the file that it is about. */
async function proofOf(text: string): Promise<{ proof: Proof; file: Buffer; open: number }> {
  const { r1cs: file } = await compile(text);
  const proof = prove(file, file, [], "outputs");
  const { outputs } = proof.plain;
  const open = Array.from({ length: outputs }, (_, i) => 1 + i).filter((wire) => !proof.determined.isDetermined(wire));
  return { proof, file, open: open.length };
}

/** How many outputs stay open. Both checkers must agree. */
async function open(text: string): Promise<number> {
  const { proof, file, open: found } = await proofOf(text);
  expect(recheck(proof, file, file)).to.deep.equal([]);
  return found;
}

const rulesOf = ({ facts }: Proof) => new Set(facts.steps.map(({ rule }) => rule));

describe("ladders with circomlib's formulas", function () {
  slow(this, "small circuits are compiled");

  it("multiplies a fixed base: certified for bits, and only for a base of prime order", async () => {
    expect(await open(fixedBase(6))).to.equal(0);
    expect(await open(fixedBase(6, { bits: false })), "numbers that are not bits").to.equal(2);
    const [x, y] = BASE8;
    expect(await open(fixedBase(6, { base: [P - x, P - y] })), "a base of twice the order").to.equal(2);
  });

  it("multiplies a fixed base by more bits than one segment has", async () => {
    const outcome = certify(await compile(fixedBase(253), 1));
    expect(outcome.verdict).to.equal("certified");
  });

  it("multiplies an input: certified for bits and a point of the curve", async () => {
    const all: Parts = {};
    for (const [parts, expected] of [
      [all, 0],
      [{ bits: false }, 2],
      [{ curve: false }, 2],
    ] as const)
      expect(await open(variableBase(5, parts)), JSON.stringify(parts)).to.equal(expected);
  });

  it("hashes bits with Pedersen's hash", async () => {
    expect(await open(pedersen(10))).to.equal(0);
    expect(await open(pedersen(10, { bits: false })), "numbers that are not bits").to.equal(2);
  });

  it("determines all of EdDSA's verifier but the inverses of numbers that may be 0, if the key is on the curve", async () => {
    const circuit = await compile(checkedEddsa("Poseidon"));
    const { plain } = circuit;
    if (plain === undefined) throw new Error("compiled circuits have one");
    const proof = prove(plain.r1cs, plain.r1cs, [], "wires");
    const explanation = new Explanation(proof, readNames(plain.sym), new Places([]));
    expect(recheck(proof, plain.r1cs, plain.r1cs)).to.deep.equal([]);
    expect(proof.free.map((wire) => explanation.name(wire))).to.deep.equal([
      "main.verifier.eqCheckX.isz.inv",
      "main.verifier.eqCheckY.isz.inv",
      "main.verifier.isZero.inv",
      "main.verifier.mulAny.zeropoint.inv",
    ]);
    expect(certify(circuit)).to.include({ verdict: "certified", theorem: "ports" });
  });

  describe("with a mistake in a formula", () => {
    const montgomery = read("montgomery");
    const fixed = (source: string) =>
      `${HEAD} ${including("mux3", "babyjub", "bitify").replace(/include .*babyjub.circom";/, "")}
${read("babyjub")} ${source} ${read("escalarmulfix")} ${fixedBase(6)
        .replace(HEAD, "")
        .replace(/include .*;\n?/g, "")}`;
    const variable = (source: string, ladder = read("escalarmulany")) =>
      `${HEAD} ${including("comparators", "bitify")}
${read("babyjub").replace(/template BabyPbk[\s\S]*$/, "")} ${source} ${ladder} ${variableBase(5)
        .replace(HEAD, "")
        .replace(/include .*;\n?/g, "")}`;

    it("is certified without one (control)", async () => {
      expect(await open(fixed(montgomery))).to.equal(0);
      expect(await open(variable(montgomery))).to.equal(0);
    });

    const replaced = (source: string, from: string, to: string): string => {
      expect(source).to.contain(from);
      return source.replace(from, to);
    };

    for (const [name, from, to] of [
      ["the sum's slope has no constraint", "lamda * (in2[0] - in1[0]) === (in2[1] - in1[1]);", ""],
      ["the sum's slope is that of the opposite point", "=== (in2[1] - in1[1]);", "=== (in2[1] + in1[1]);"],
      [
        "the sum's u has another coefficient",
        "B*lamda*lamda - A - in1[0] -in2[0];",
        "B*lamda*lamda - a - in1[0] -in2[0];",
      ],
      [
        "the sum's v is that of another point",
        "lamda * (in1[0] - out[0]) - in1[1];",
        "lamda * (in2[0] - out[0]) - in1[1];",
      ],
    ] as const)
      it(`is not certified for a fixed base if ${name}`, async () => {
        const text = fixed(replaced(montgomery, from, to));
        expect(await open(text)).to.be.above(0);
      });

    for (const [name, from, to] of [
      ["the tangent's slope has no constraint", "lamda * (2*B*in[1]) === (3*x1_2 + 2*A*in[0] + 1 );", ""],
      ["the tangent is that of another curve", "=== (3*x1_2 + 2*A*in[0] + 1 );", "=== (3*x1_2 + 2*A*in[0] + 2 );"],
      ["the square of u is not constrained", "x1_2 <== in[0] * in[0];", "x1_2 <-- in[0] * in[0];"],
      ["the double's u has another coefficient", "B*lamda*lamda - A - 2*in[0];", "B*lamda*lamda - a - 2*in[0];"],
      [
        "an Edwards point is converted by another formula",
        "out[1] * in[0] === out[0];",
        "out[1] * in[0] === out[0] + 1;",
      ],
    ] as const)
      it(`is not certified for an input if ${name}`, async () => {
        const text = variable(replaced(montgomery, from, to));
        expect(await open(text)).to.be.above(0);
      });

    for (const [name, from, to] of [
      [
        "a bit may choose a sum of no points",
        "(in[1][1] - in[0][1])*sel + in[0][1];",
        "(in[1][0] - in[0][1])*sel + in[0][1];",
      ],
      ["the first point is added to itself", "addIn[0] ==> adder.in2[0];", "doubler.out[0] ==> adder.in2[0];"],
      ["a point with x = 0 is not replaced", "- p[0])*zeropoint.out;", "- p[0])*0;"],
    ] as const)
      it(`is not certified for an input if ${name}`, async () => {
        const text = variable(montgomery, replaced(read("escalarmulany"), from, to));
        expect(await open(text)).to.be.above(0);
      });
  });
});

describe("forged proofs about ladders", function () {
  slow(this, "small circuits are compiled");
  let proofs: { proof: Proof; file: Buffer }[];
  before(async () => {
    proofs = [await proofOf(fixedBase(6)), await proofOf(variableBase(5))];
  });

  /** What the second checker says if the facts of a rule are changed, for each fact that `change` does not leave alone. */
  function refusals<Rule extends Fact["rule"]>(
    rule: Rule,
    change: (fact: Extract<Fact, { rule: Rule }>, steps: readonly Fact[]) => object | undefined,
  ): string[] {
    return proofs.flatMap(({ proof, file }) =>
      proof.facts.steps.flatMap((fact, i) => {
        const changed =
          fact.rule === rule ? change(fact as Extract<Fact, { rule: Rule }>, proof.facts.steps) : undefined;
        if (changed === undefined) return [];
        const steps = proof.facts.steps.with(i, { ...fact, ...changed } as Fact);
        return [recheck({ ...proof, facts: { steps } as unknown as Facts }, file, file).join()];
      }),
    );
  }

  it("are accepted unchanged (control)", () => {
    for (const { proof, file } of proofs) expect(recheck(proof, file, file)).to.deep.equal([]);
    expect([...rulesOf((proofs[0] as { proof: Proof }).proof)]).to.include.members(["table", "sum", "lower"]);
    const other = [...rulesOf((proofs[1] as { proof: Proof }).proof)];
    expect(other).to.include.members(["replace", "lift", "twice", "sum", "choice", "lower"]);
  });

  const twiceNamed = ({
    constant,
    wires,
    coefficients,
  }: {
    constant: bigint;
    wires: readonly number[];
    coefficients: readonly bigint[];
  }) => ({
    constant,
    wires: [...wires, ...wires],
    coefficients: [...coefficients.map(() => 5n), ...coefficients],
  });
  const last = (rule: Fact["rule"], steps: readonly Fact[]) => steps.findLastIndex((step) => step.rule === rule);

  const forgeries: [
    name: string,
    rule: Fact["rule"],
    change: (fact: never, steps: readonly Fact[]) => object | undefined,
    why: RegExp,
  ][] = [
    [
      "another multiple",
      "table",
      ({ multiples: [first, ...rest] }: { multiples: bigint[] }) => ({ multiples: [(first as bigint) + 1n, ...rest] }),
      /another multiple/,
    ],
    [
      "a multiple of another unit",
      "table",
      ({ base: [x, y] }: { base: bigint[] }) => ({ base: [P - (x as bigint), y] }),
      /another multiple/,
    ],
    [
      "a unit off the curve",
      "table",
      ({ base: [x, y] }: { base: bigint[] }) => ({ base: [(x as bigint) + 1n, y] }),
      /not on the curve/,
    ],
    ["a unit of order 2", "table", () => ({ base: [0n, P - 1n] }), /another order/],
    [
      "a unit of twice the order",
      "table",
      ({ base: [x, y] }: { base: bigint[] }) => ({ base: [P - (x as bigint), P - (y as bigint)] }),
      /another order/,
    ],
    [
      "bits twice",
      "table",
      ({ bits }: { bits: number[] }) => (bits.length === 0 ? undefined : { bits: [bits[0], ...bits.slice(0, -1)] }),
      /one of them twice/,
    ],
    [
      "no bit",
      "table",
      ({ bits, definitions: [first] }: { bits: number[]; definitions: { wire: number }[] }) =>
        first === undefined ? undefined : { bits: [first.wire, ...bits.slice(1)] },
      /is not a bit/,
    ],
    [
      "fewer choices",
      "table",
      ({ multiples, bits }: { multiples: bigint[]; bits: number[] }) =>
        bits.length === 0 ? undefined : { multiples: multiples.slice(1) },
      /another number of points/,
    ],
    [
      "no definitions",
      "table",
      ({ definitions }: { definitions: unknown[] }) => (definitions.length === 0 ? undefined : { definitions: [] }),
      /has no value/,
    ],
    [
      "a wire defined twice",
      "table",
      ({ definitions }: { definitions: unknown[] }) =>
        definitions.length === 0 ? undefined : { definitions: [...definitions, definitions[0]] },
      /defines no new wire/,
    ],
    [
      "a form that names a wire twice",
      "table",
      ({ result }: { result: { u: never } }) =>
        (result.u as { wires: number[] }).wires.length === 0
          ? undefined
          : { result: { ...result, u: twiceNamed(result.u) } },
      /another multiple/,
    ],
    [
      "an x that may be 0",
      "lift",
      (_, steps) => ({ nonzero: steps.findIndex(({ rule }) => rule === "boolean") }),
      /x may be 0/,
    ],
    ["an x that a later fact shows", "lift", (_, steps) => ({ nonzero: last("lower", steps) }), /x may be 0/],
    ["another Edwards point", "lift", (_, steps) => ({ edwards: last("baby_check", steps) }), /x may be 0/],
    [
      "another curve",
      "twice",
      ({ square }: { square: { left: unknown } }) => ({ square: { ...square, by: -1 } }),
      /no identity/,
    ],
    ["another point", "twice", (_, steps) => ({ point: last("choice", steps) }), /is not a point|another/],
    ["a later point", "sum", (_, steps) => ({ second: last("sum", steps) }), /is not a point/],
    ["a point and itself", "sum", ({ first }: { first: number }) => ({ second: first }), /may be the same/],
    [
      "another result",
      "sum",
      ({ result }: { result: { u: unknown; v: unknown } }) => ({ result: { ...result, u: result.v } }),
      /the result is another point/,
    ],
    ["another divisor", "sum", ({ result }: { result: { u: unknown } }) => ({ forms: [result.u] }), /another divisor/],
    ["a scale", "sum", ({ result }: { result: object }) => ({ result: { ...result, scale: 0 } }), /a scaled point/],
    [
      "no bit",
      "choice",
      ({ result }: { result: { u: { wires: number[] } } }) => ({ bit: result.u.wires[0] }),
      /is not a bit/,
    ],
    [
      "the other point",
      "choice",
      ({ zero, one }: { zero: number; one: number }) => ({ zero: one, one: zero }),
      /the choice/,
    ],
    [
      "an even multiple",
      "lower",
      (_, steps) => (last("twice", steps) < 0 ? undefined : { point: steps.findIndex(({ rule }) => rule === "twice") }),
      /v may be 0/,
    ],
    [
      "another form",
      "lower",
      ({ forms: [v, above] }: { forms: unknown[] }) => ({
        forms: [v, above, { constant: 0n, wires: [1], coefficients: [1n] }],
      }),
      /another divisor/,
    ],
    ["a constant with x = 0", "replace", () => ({ base: [0n, 1n] }), /x = 0/],
    [
      "a constant off the curve",
      "replace",
      ({ base: [x] }: { base: bigint[] }) => ({ base: [x, 2n] }),
      /not on the curve/,
    ],
    [
      "another constant",
      "replace",
      ({ base: [x, y] }: { base: bigint[] }) => ({ base: [P - (x as bigint), y] }),
      /another first factor/,
    ],
    [
      "another flag",
      "replace",
      ({ empty }: { empty: { right: { wires: number[] } } }) => ({ flag: empty.right.wires[0] }),
      /another first factor/,
    ],
    ["no constraint for the flag", "replace", ({ empty }: { empty: object }) => ({ full: empty }), /does not divide/],
  ];
  for (const [name, rule, change, why] of forgeries)
    it(`are refused: ${rule} with ${name}`, () => {
      const found = refusals(rule, change as never);
      expect(found).not.to.deep.equal([]);
      for (const refusal of found)
        expect(refusal)
          .to.match(/the second checker refuses the proof: fact/)
          .and.match(why);
    });
});
