import { circuitNames } from "@sotto/keys/circuits/paths";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Circuit } from "../kit/circuit.ts";

describe("the circuits and circuits.json", function () {
  slow(this, "circuits are compiled, and witnesses made");
  for (const name of circuitNames)
    it(`${name} has the constraint and wire counts of circuits.json, no outputs, and the public signals on the first wires in order`, async () => {
      const { build, entry, publicNames } = await Circuit.load(name);
      const { r1cs, symbols } = build;
      expect(r1cs.constraints).to.equal(entry.constraints);
      expect(r1cs.wires).to.equal(entry.wires);
      expect(r1cs.publicOutputs).to.equal(0);
      expect(r1cs.publicInputs).to.equal(publicNames.length);
      const labels = [...r1cs.wireLabels.slice(1, 1 + publicNames.length)];
      expect(publicNames.map((signal) => symbols.label(signal))).to.deep.equal(labels);
    });

  it("stays within the promised sizes", async () => {
    const counts = await Promise.all(circuitNames.map(async (name) => (await Circuit.load(name)).entry.constraints));
    const [payment, range, withdrawal, append, origin] = counts as [number, number, number, number, number];
    // 8,182 constraints, ten public signals and the constant 1 fit into an FFT domain of 8,192.
    expect(payment).to.be.at.most(8_182);
    expect(range).to.be.at.most(2_750);
    expect(withdrawal).to.be.at.most(42_000);
    expect(append).to.be.at.most(16_000);
    // The size of SpentNote(10) alone: the comparisons with maskRoot and nullifier add no constraint.
    expect(origin).to.be.at.most(4_675);
  });
});
