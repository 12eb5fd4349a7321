import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { publicSignalCount, readCircuitTable, shownSignals, signalCount } from "../../src/circuits/circuits-json.ts";
import { assertCounts } from "../../src/circuits/compile.ts";
import { artifactPaths, circuitNames } from "../../src/circuits/paths.ts";
import { readR1csHeader } from "../../src/circuits/r1cs-header.ts";

const CIRCUIT = {
  template: "Toy",
  parameters: { depth: 2 },
  publicSignals: [{ name: "a", size: 2, description: "first" }],
  privateInputs: [{ name: "path", shape: [2, 8], description: "second" }],
  constraints: 4,
  wires: 9,
};

describe("circuits.json", function () {
  slow(this, "keys, circuits and ceremonies are made");
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sotto-table-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const read = (document: unknown) => {
    const path = join(folder, "circuits.json");
    writeFileSync(path, typeof document === "string" ? document : JSON.stringify(document));
    return readCircuitTable(path);
  };

  it("matches the compiled circuits", () => {
    const table = readCircuitTable();
    expect(Object.keys(table)).to.have.members([...circuitNames]);
    for (const name of circuitNames) assertCounts(name, table[name], readR1csHeader(artifactPaths(name).r1cs));
  });

  it("is parsed as written", () => {
    const toy = read({ circuits: { toy: CIRCUIT } })["toy"];
    expect(toy).to.deep.equal(CIRCUIT);
    expect(publicSignalCount(toy!)).to.equal(2);
    const bound = { ...CIRCUIT, publicSignals: [{ name: "a", size: 1, free: true, description: "bound" }] };
    expect(read({ circuits: { toy: bound } })["toy"]).to.deep.equal(bound);
    expect([signalCount(toy!), shownSignals(toy!)]).to.deep.equal([2, CIRCUIT.publicSignals]);
    const shown = { ...CIRCUIT, signals: [{ name: "b", size: 5, description: "shown" }] };
    const parsed = read({ circuits: { toy: shown } })["toy"];
    expect(parsed).to.deep.equal(shown);
    expect([publicSignalCount(parsed!), signalCount(parsed!), shownSignals(parsed!)]).to.deep.equal([
      2,
      5,
      shown.signals,
    ]);
  });

  for (const [what, document] of [
    ["no JSON", "{"],
    ["no circuits", {}],
    ["a circuit without a template", { circuits: { toy: { ...CIRCUIT, template: 1 } } }],
    ["no public signals", { circuits: { toy: { ...CIRCUIT, publicSignals: [] } } }],
    ["signals that are not a list", { circuits: { toy: { ...CIRCUIT, signals: {} } } }],
    ["a signal of size 0", { circuits: { toy: { ...CIRCUIT, publicSignals: [{ name: "a", size: 0 }] } } }],
    [
      "a free signal that is an array",
      { circuits: { toy: { ...CIRCUIT, publicSignals: [{ name: "a", size: 2, free: true }] } } },
    ],
    [
      "a signal whose `free` is not true",
      { circuits: { toy: { ...CIRCUIT, publicSignals: [{ name: "a", size: 1, free: false }] } } },
    ],
    ["a signal without a name", { circuits: { toy: { ...CIRCUIT, publicSignals: [{ size: 1 }] } } }],
    ["an invalid shape", { circuits: { toy: { ...CIRCUIT, privateInputs: [{ name: "a", shape: [0.5] }] } } }],
    ["no constraint count", { circuits: { toy: { ...CIRCUIT, constraints: "4" } } }],
    ["no wire count", { circuits: { toy: { ...CIRCUIT, wires: undefined } } }],
    ["a parameter that is not a number", { circuits: { toy: { ...CIRCUIT, parameters: { depth: "2" } } } }],
  ] as const)
    it(`is rejected with ${what}`, () => expectRejected("CIRCUITS_JSON_INVALID", () => read(document)));

  it("is rejected if a count differs from the compiled circuit's, and the error names both", async () => {
    const header = { wires: 9, publicOutputs: 0, publicInputs: 2, privateInputs: 16, constraints: 4 };
    assertCounts("toy", CIRCUIT, header);
    for (const [key, value] of [
      ["constraints", 5],
      ["publicInputs", 3],
      ["publicOutputs", 1],
    ] as const) {
      const wrong = { ...header, [key]: value };
      expect(
        (await expectRejected("CIRCUITS_JSON_STALE", () => assertCounts("toy", CIRCUIT, wrong))).message,
      ).to.include(`${value}`);
    }
    const wires = { ...CIRCUIT, wires: 8 };
    expect((await expectRejected("CIRCUITS_JSON_STALE", () => assertCounts("toy", wires, header))).message).to.match(
      /8 wires.*9/,
    );
    await expectRejected("CIRCUITS_JSON_STALE", () => assertCounts("toy", undefined, header));
  });
});
