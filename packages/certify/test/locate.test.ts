import { expect } from "chai";
import { Places } from "../src/locate.ts";
import { writeCircuit } from "./compiled.ts";

const SOURCE = `pragma circom 2.0.0;
template Part() {
    signal input inputs[2];
    signal input {binary} bit;
    signal output output_1;
    signal inputHash <-- inputs[0] * bit;
    signal outputs;
    outputs <-- inputs[1];
    output_1 <== inputHash + outputs;
}
template Main() {
    signal input a;
    component part = Part();
    part.inputs[0] <== a;
}
component main = Main();
`;

describe("places in sources", () => {
  const places = new Places([writeCircuit(SOURCE)]);

  it("tell inputs and outputs of components from signals whose names begin with these words", () => {
    const signals = ["inputs[1]", "bit", "output_1", "inputHash", "outputs", "Hash", "s", "_1"];
    expect(signals.filter((signal) => places.isPort(`main.part.${signal}`))).to.deep.equal([
      "inputs[1]",
      "bit",
      "output_1",
    ]);
    expect(places.isPort("main.a"), "an input of the circuit").to.equal(false);
  });

  it("name the signals that a hint reads, also if they are called like inputs and outputs", () => {
    expect(places.assignment("main.part.output_1")?.reads).to.have.members(["inputHash", "outputs"]);
    expect(places.assignment("main.part.outputs")).to.include({ line: 8, hint: true });
  });
});
