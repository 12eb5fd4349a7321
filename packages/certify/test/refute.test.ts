import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { readSystem, type System, systemOf } from "../src/r1cs.ts";
import { refute } from "../src/refute/refute.ts";
import { checkRefutation, checkWitness } from "../src/refute/replay.ts";
import { BUGS } from "./bugs.ts";
import { compile } from "./compiled.ts";
import { fileOf } from "./file.ts";
import { randomCircuit, range, SMALL } from "./random-circuit.ts";
import { solutions } from "./solutions.ts";

const SYSTEMS = fuzzSize(600, 20_000);
/** The time is no limit in these tests; the steps are. */
const limits = (steps: number) => ({ milliseconds: 600_000, steps });

async function read(text: string) {
  const { r1cs: file } = await compile(text);
  const system = readSystem(file);
  return { file, system, given: range(1 + system.outputs, system.inputs), targets: range(1, system.outputs) };
}

describe("refutation of circuits with known kinds of bugs", function () {
  slow(this, "small circuits are compiled, and two witnesses are searched for");
  for (const [name, circuit] of Object.entries(BUGS))
    it(`${name}: finds two witnesses of the mistake, and none without it`, async () => {
      const broken = await read(circuit(false));
      const found = refute({ ...broken, limits: limits(10_000_000) });
      if (found.verdict !== "refuted") throw new Error(`not refuted: ${found.reason}`);
      expect(checkRefutation(broken.file, found.witnesses, broken.given, broken.targets)).to.equal(undefined);
      const fixed = await read(circuit(true));
      expect(refute({ ...fixed, limits: limits(100_000) }).verdict).to.equal("unknown");
    });

  it("names the wires that differ, and starts from a witness", async () => {
    const broken = await read((BUGS["division"] as (checked: boolean) => string)(false));
    const found = refute({ ...broken, names: (wire) => `wire ${wire}`, witness: [1n, 17n, 0n, 0n] });
    if (found.verdict !== "refuted") throw new Error("not refuted");
    expect(found.witnesses[0]).to.deep.equal([1n, 17n, 0n, 0n]);
    expect(found.differences.map(({ name }) => name)).to.deep.equal(["wire 1"]);
  });
});

describe("replay of a refutation", () => {
  // Wire 3 times wire 1 is wire 2.
  const file = fileOf({ wires: 4, constraints: [[{ 3: 1n }, { 1: 1n }, { 2: 1n }]] }, SMALL);
  const [one, two] = [
    [1n, 0n, 0n, 2n],
    [1n, 0n, 0n, 3n],
  ];
  it("accepts two witnesses that agree on what is given and differ in a target", () => {
    expect(checkRefutation(file, [one, two], [1, 2], [3])).to.equal(undefined);
  });

  it("refuses every other pair", () => {
    expect(checkRefutation(file, [one, one], [1, 2], [3])).to.match(/agree on every wire/);
    expect(checkRefutation(file, [one, [1n, 1n, 3n, 3n]], [1, 2], [3])).to.match(/differ in wire 1, which is given/);
    expect(checkRefutation(file, [one, [1n, 0n, 1n, 3n]], [1], [3])).to.match(/witness 2: constraint 0/);
    expect(checkWitness(file, [1n, 0n, 0n])).to.match(/has 3 values, expected 4/);
    expect(checkWitness(file, [2n, 0n, 0n, 0n])).to.match(/wire 0 is not 1/);
    expect(checkWitness(file, [1n, 0n, 0n, 5n])).to.match(/wire 3 is not a number of the field/);
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
      const seen = new Map<string, string>();
      const isUnique = solutions(circuit).every((values) => {
        const [key, value] = [given, targets].map((wires) => wires.map((wire) => values[wire]).join());
        const before = seen.get(key as string) ?? (value as string);
        seen.set(key as string, before);
        return before === value;
      });
      const system: System = systemOf(circuit.wires, inputs, circuit.constraints);
      const question = { file: fileOf(circuit, SMALL), system, given, targets, prime: BigInt(SMALL) };
      const { verdict } = refute({ ...question, limits: limits(20_000) });
      if (isUnique) expect(verdict, JSON.stringify(circuit, String)).to.equal("unknown");
      counts[isUnique ? "unique" : verdict === "refuted" ? "refuted" : "missed"]++;
    }
    expect(counts.refuted).to.be.above(SYSTEMS / 10);
    expect(counts.unique).to.be.above(SYSTEMS / 10);
    expect(counts.missed).to.equal(0);
  });
});
