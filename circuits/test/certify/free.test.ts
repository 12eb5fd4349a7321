import { readFileSync } from "node:fs";
import { readSystem, type Side, systemOf } from "@sotto/certify/internal";
import { assertFreeSignals, whyNotFree, wronglyFree } from "@sotto/keys/certify/free";
import { readCircuitTable } from "@sotto/keys/circuits/circuits-json";
import { artifactPaths, circuitNames } from "@sotto/keys/circuits/paths";
import { expect } from "chai";

type Constraint = readonly [Side, Side, Side];

/** Wire 1 is the signal, wire 2 another public signal, wires 3 and 4 are private. */
const why = (...constraints: Constraint[]) => whyNotFree({ ...systemOf(5, 2, constraints), publicInputs: 2 }, 1);

const SQUARE: Constraint = [{ 1: 1n }, { 1: 1n }, { 3: 1n }];

describe("free signals", () => {
  it("are those that circuits.json declares, in the shipped circuits", () => {
    const declared = Object.entries(readCircuitTable()).map(([name, { publicSignals }]) => [
      name,
      publicSignals.filter(({ free }) => free).map((signal) => signal.name),
    ]);
    expect(Object.fromEntries(declared)).to.deep.equal({
      payment: ["resourceUrl", "changeHint"],
      elgamal_range: [],
      withdrawal: [],
      note_append: [],
      origin: [],
    });
    assertFreeSignals(circuitNames);
  });

  it("are refused if the shipped circuit uses them", () => {
    const { payment } = readCircuitTable();
    const system = readSystem(readFileSync(artifactPaths("payment").r1cs));
    for (const { name, free } of payment!.publicSignals) {
      if (free) continue;
      const publicSignals = payment!.publicSignals.map((signal) =>
        signal.name === name && signal.size === 1 ? { ...signal, free: true as const } : signal,
      );
      const isArray = payment!.publicSignals.some((signal) => signal.name === name && signal.size > 1);
      expect(wronglyFree({ ...payment!, publicSignals }, system)).to.have.length(isArray ? 0 : 1);
    }
  });

  it("occur in the constraint of their square, and nowhere else", () => {
    expect(why(SQUARE)).to.equal(undefined);
    expect(why(SQUARE, [{ 4: 1n }, { 4: 1n }, { 2: 1n }])).to.equal(undefined);
    expect(why([{ 1: 2n }, { 1: -1n }, { 3: 5n }]), "with coefficients").to.equal(undefined);
    expect(why()).to.equal("it occurs in 0 constraints");
    expect(why(SQUARE, [{}, {}, { 1: 1n, 4: 1n }])).to.equal("it occurs in 2 constraints");
    const others: Constraint[] = [
      [{ 1: 1n }, { 1: 1n }, { 3: 1n, 4: 1n }],
      [{ 1: 1n }, { 1: 1n, 0: 1n }, { 3: 1n }],
      [{ 1: 1n }, { 2: 1n }, { 3: 1n }],
      [{ 1: 1n }, { 1: 1n }, {}],
      [{}, {}, { 1: 1n, 3: 1n }],
      [{ 1: 1n }, { 1: 1n }, { 1: 1n }],
    ];
    for (const constraint of others) expect(why(constraint)).to.equal("constraint 0 is not its square");
    expect(why([{ 1: 1n }, { 1: 1n }, { 2: 1n }])).to.equal("its square is public");
    expect(why(SQUARE, [{ 3: 1n }, { 4: 1n }, { 2: 1n }])).to.equal("its square occurs in other constraints");
  });
});
