import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { writeFixture } from "./support/fixture.ts";
import { contractOf, contractOfBug, propertiesOf, seed, writeSources } from "./support/generate.ts";
import { HISTORIES, PROPERTIES } from "./support/properties.ts";
import { writeResults } from "./support/results.ts";
import { type FuzzResult, root, runSolidityTests } from "./support/run.ts";
import { SEEDED_BUGS } from "./support/seeded-bugs.ts";

/** Sequences for each property and kind of history, and calls in each sequence. */
const SIZE = { runs: fuzzSize(12, 200), depth: fuzzSize(12, 50), shrink: 500 };
/** A seeded bug ends the run when it is found, so most take a few sequences. */
const SEEDED_SIZE = { runs: 2_000, depth: 20, shrink: 0 };

describe("properties of the contracts", function () {
  slow(this, "compiles the contracts with all seeded bugs, and verifies thousands of proofs");
  let results: readonly FuzzResult[] = [];
  let seeded: readonly FuzzResult[] = [];

  before(async () => {
    writeFixture();
    writeSources();
    results = await runSolidityTests("properties", SIZE);
  });

  // A hook of its own: each may take as long as a slow test.
  before(async () => {
    seeded = await runSolidityTests("seeded bugs", SEEDED_SIZE);
    writeResults(results, seeded);
  });

  const resultOf = (all: readonly FuzzResult[], contract: string): FuzzResult => {
    const result = all.find((one) => one.contract === contract);
    if (result === undefined) throw new Error(`${contract} was not run`);
    return result;
  };

  it("executes the recorded pool with its real proofs", () => {
    const result = resultOf(results, "Recording");
    expect(result.passed, `${result.reason}; run npm run generate if circuits or statements have changed`).to.equal(
      true,
    );
  });

  for (const [number, { invariant }] of Object.entries(PROPERTIES))
    for (const history of HISTORIES.filter((kind) => propertiesOf(kind).includes(Number(number))))
      it(`property ${number}, ${invariant}, holds over ${SIZE.runs} sequences: ${history}`, () => {
        const result = resultOf(results, contractOf(history, Number(number)));
        expect(result.reason, result.test).to.equal(undefined);
        expect(result.passed).to.equal(true);
        expect(result.runs).to.equal(SIZE.runs);
        expect(result.calls - result.reverts, "accepted calls").to.be.greaterThan(result.calls / 4);
      });

  for (const bug of SEEDED_BUGS)
    it(`property ${bug.property} finds the seeded bug ${bug.name}`, () => {
      const result = resultOf(seeded, contractOfBug(bug));
      expect(result.test).to.equal(`invariant_findsBug_${bug.property}_${PROPERTIES[bug.property]?.invariant}`);
      expect(result.passed, "the bug was not found").to.equal(false);
      expect(result.reason).to.match(/^Broken\(/);
    });

  it("refuses a seeded bug that no longer fits its source", () => {
    const bug = { ...SEEDED_BUGS[0]!, number: 1 };
    expect(() => seed("contract ShieldedPool {}", [bug])).to.throw("does not fit its source");
    expect(() => seed(`${bug.from}\n${bug.from}`, [bug])).to.throw("occur 2 times");
  });

  it("has a seeded bug for each property", () => {
    const numbers = Object.keys(PROPERTIES).map(Number);
    expect([...new Set(SEEDED_BUGS.map(({ property }) => property))].toSorted((a, b) => a - b)).to.deep.equal(numbers);
  });

  it("is documented: properties, invariants and seeded bugs", () => {
    const rows = readFileSync(join(root, "docs", "properties.md"), "utf8").split("\n");
    for (const [number, { invariant }] of Object.entries(PROPERTIES)) {
      const row = rows.find((line) => line.startsWith(`| ${number} |`)) ?? "";
      expect(row, `property ${number}`).to.include(`\`${invariant}\``);
      const bugs = [...row.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map(([, name]) => name);
      const expected = SEEDED_BUGS.filter(({ property }) => property === Number(number)).map(({ name }) => name);
      expect(bugs, `property ${number}`).to.deep.equal(expected);
    }
  });
});
