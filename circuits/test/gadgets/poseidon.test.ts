import { readFileSync } from "node:fs";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { compile } from "../kit/compile.ts";
import { sources } from "../kit/gadget.ts";

/** Inputs of the widths in lib/poseidon_constants.circom. */
const INPUTS = [1, 2, 3, 4, 5, 6, 7, 11];

const main = (file: string) => `pragma circom 2.2.0;
include "${file}";
template Widths() {
    signal input values[12];
    ${INPUTS.map(
      (n) => `component width${n} = PoseidonEx(${n}, ${n});
    width${n}.initialState <== values[${n}];
    for (var i = 0; i < ${n}; i++) {
        width${n}.inputs[i] <== values[i];
    }`,
    ).join("\n    ")}
}
component main = Widths();
`;

describe("Poseidon", function () {
  slow(this, "circuits are compiled");

  for (const level of ["plain", "full"] as const)
    it(`has the constraints of circomlib in every width, ${level}`, async () => {
      const [own, circomlib] = await Promise.all(
        ["lib/poseidon.circom", "circomlib/circuits/poseidon.circom"].map((file) =>
          compile(sources, main(file), level, "constraints"),
        ),
      );
      const r1cs = readFileSync(own!.files.r1cs);
      expect(r1cs.length).to.be.above(1_000_000);
      expect(r1cs.equals(readFileSync(circomlib!.files.r1cs))).to.equal(true);
    });
});
