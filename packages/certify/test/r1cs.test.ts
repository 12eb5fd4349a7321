import { division } from "@sotto/test-kit/division-circuit";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { readSystem } from "../src/r1cs.ts";
import { compile } from "./compiled.ts";

describe("the first checker's reader of r1cs files", function () {
  slow(this, "a circuit is compiled");
  let file: Buffer;

  before(async () => {
    file = (await compile(division(true))).r1cs;
  });

  it("reads the circuit, as the control", () => {
    const { wires, constraints, outputs, inputs } = readSystem(file);
    expect({ wires, constraints, outputs, inputs }).to.deep.equal({ wires: 5, constraints: 2, outputs: 1, inputs: 2 });
  });

  it("refuses a file that ends early, at any byte", async () => {
    for (let length = 0; length < file.length; length++)
      await expectRejected("R1CS_DAMAGED", () => readSystem(file.subarray(0, length)));
  });

  it("says what is wrong with custom gates and with another field, which a second compilation would not mend", async () => {
    const gates = Buffer.concat([file, Buffer.from([4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1])]);
    gates.writeUInt32LE(4, 8);
    expect(() => readSystem(gates)).to.throw("custom gates, which are not constraints: no theorem covers them");
    const field = Buffer.from(file);
    const prime = field.indexOf(Buffer.from([32, 0, 0, 0])) + 4;
    field.writeUInt32LE(field.readUInt32LE(prime) + 2, prime);
    expect(() => readSystem(field)).to.throw("compile it with circom's --prime bn128");
  });

  it("refuses bytes after the end, another format and sections that it does not know", async () => {
    const changed = (at: number, value: number): Buffer => {
      const copy = Buffer.from(file);
      copy.writeUInt32LE(value, at);
      return copy;
    };
    for (const wrong of [
      Buffer.concat([file, Buffer.alloc(1)]),
      changed(0, 0),
      changed(4, 2),
      changed(8, file.readUInt32LE(8) - 1),
      changed(12, 6),
    ])
      await expectRejected("R1CS_DAMAGED", () => readSystem(wrong));
  });
});
