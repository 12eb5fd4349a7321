import { BUGS } from "@sotto/test-kit/buggy-circuits";
import { division } from "@sotto/test-kit/division-circuit";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { readSystem, type System, systemOf } from "../src/r1cs.ts";
import { refute } from "../src/refute/refute.ts";
import { checkRefutation } from "../src/refute/replay.ts";
import { P } from "../src/replay/field.ts";
import { compile } from "./compiled.ts";
import { free } from "./free.ts";
import { randomCircuit, range, SMALL } from "./random-circuit.ts";
import { solutions } from "./solutions.ts";

const SYSTEMS = fuzzSize(600, 20_000);
/** The time is no limit in these tests; the steps are. */
const limits = (steps: number) => ({ milliseconds: 600_000, steps });

async function read(text: string) {
  const { r1cs } = await compile(text);
  const system = readSystem(r1cs);
  return { r1cs, system, given: range(1 + system.outputs, system.inputs), targets: range(1, system.outputs) };
}

describe("refutation of circuits with known kinds of bugs", function () {
  slow(this, "small circuits are compiled, and two witnesses are searched for");
  for (const [name, circuit] of Object.entries(BUGS))
    it(`${name}: finds two witnesses of the mistake, and none without it`, async () => {
      const broken = await read(circuit(false));
      const found = refute({ ...broken, limits: limits(10_000_000) });
      if (found.verdict !== "refuted") throw new Error(`not refuted: ${found.reason}`);
      expect(checkRefutation(broken.r1cs, "outputs", found.witnesses)).to.equal(undefined);
      const fixed = await read(circuit(true));
      expect(refute({ ...fixed, limits: limits(100_000) }).verdict).to.equal("unknown");
    });
});

describe("replay of a refutation", function () {
  slow(this, "a circuit is compiled");
  // q b = a, with the wires 1, q, a, b.
  const [one, two] = [
    [1n, 0n, 0n, 0n],
    [1n, 1n, 0n, 0n],
  ];
  let file: Buffer;
  before(async () => {
    file = (await compile(division(false))).r1cs;
  });

  it("accepts two witnesses that agree on what is given and differ in what is claimed", () => {
    expect(checkRefutation(file, "outputs", [one, two])).to.equal(undefined);
    expect(checkRefutation(file, "wires", [one, two])).to.equal(undefined);
    expect(checkRefutation(file, "strong", [one, [1n, 2n, 6n, 3n]]), "no input is public").to.equal(undefined);
  });

  it("refuses every other pair", () => {
    const why = (...witnesses: [bigint[], bigint[]]) => checkRefutation(file, "outputs", witnesses);
    expect(why(one, one)).to.match(/agree on every wire/);
    expect(why(one, [1n, 1n, 3n, 3n])).to.match(/differ in wire 2, which is given/);
    expect(why(one, [1n, 0n, 1n, 3n])).to.match(/witness 2: constraint 0/);
    expect(why([1n, 0n, 0n], two)).to.match(/witness 1: the witness has 3 values, expected 4/);
    expect(why(one, [2n, 0n, 0n, 0n])).to.match(/wire 0 is not 1/);
    expect(why(one, [1n, P, 0n, 0n])).to.match(/wire 1 is not a number of the field/);
  });
});

describe("refutation of random systems over a small field", function () {
  slow(this, "every assignment is tried");
  it("is never wrong, and misses nothing that brute force finds", () => {
    const random = new Random("refute");
    const counts = { refuted: 0, missed: 0, unique: 0 };
    for (let i = 0; i < SYSTEMS; i++) {
      const circuit = randomCircuit(random);
      const inputs = circuit.given + circuit.results;
      const given = range(1, inputs);
      const targets = range(1 + inputs, circuit.wires - 1 - inputs);
      const all = solutions(circuit);
      const valuesOf = (wires: readonly number[], values: ArrayLike<bigint | number>) =>
        wires.map((wire) => values[wire]).join();
      const isUnique = free(all, given, targets).length === 0;
      const system: System = systemOf(circuit.wires, inputs, circuit.constraints);
      const found = refute({ system, given, targets, prime: BigInt(SMALL), limits: limits(20_000) });
      const shown = JSON.stringify(circuit, (_, value) => (typeof value === "bigint" ? Number(value) : value));
      if (isUnique) expect(found.verdict, shown).to.equal("unknown");
      if (found.verdict === "refuted") {
        const [first, second] = found.witnesses;
        const known = new Set(all.map(String));
        expect([known.has(String(first)), known.has(String(second))], shown).to.deep.equal([true, true]);
        expect(valuesOf(given, first), shown).to.equal(valuesOf(given, second));
        expect(valuesOf(targets, first), shown).not.to.equal(valuesOf(targets, second));
      }
      counts[isUnique ? "unique" : found.verdict === "refuted" ? "refuted" : "missed"]++;
    }
    expect(counts.refuted).to.be.above(SYSTEMS / 10);
    expect(counts.unique).to.be.above(SYSTEMS / 10);
    expect(counts.missed).to.equal(0);
  });
});
