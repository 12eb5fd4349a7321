import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { readR1cs } from "../../src/setup/keys/r1cs.ts";
import { compileToy, type Toy } from "./support/toy.ts";

describe("reading an r1cs file", function () {
  slow(this, "keys, circuits and ceremonies are made");
  let toy: Toy;
  before(async () => {
    toy = await compileToy();
  });
  after(() => toy.remove());

  it("returns its counts and one entry per coefficient", () => {
    const r1cs = readR1cs(toy.paths.r1cs);
    expect(r1cs).to.include({ publicOutputs: 1, publicInputs: 2, publicSignals: 3, privateInputs: 1 });
    // A square, twelve products and the output; with rows for three public wires and the constant, the domain is 32.
    expect(r1cs).to.include({ constraints: 14, logDomain: 5 });
    expect(r1cs.coefficients.byteLength).to.equal(32 * r1cs.matrices.length);
    expect(Math.max(...r1cs.constraintIndices)).to.equal(r1cs.constraints - 1);
    expect(Math.max(...r1cs.wireIndices)).to.equal(r1cs.wires - 1);
  });

  it("rejects truncated and empty files, and files of another format", async () => {
    const whole = readFileSync(toy.paths.r1cs);
    const path = join(toy.folder, "cut.r1cs");
    for (const length of [0, 3, 11, 20, 30, 100, 500, whole.length / 2]) {
      writeFileSync(path, whole.subarray(0, length));
      const { message } = await expectRejected("R1CS_DAMAGED", () => readR1cs(path));
      expect(message, `${length} bytes`).to.include(path);
    }
    await expectRejected("R1CS_DAMAGED", () => readR1cs(toy.paths.wasm));
  });
});
