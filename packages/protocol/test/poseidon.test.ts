import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import { DOMAIN, FIELD_MODULUS, hashNode, poseidon, poseidonEx } from "../src/index.ts";
import { field, runs } from "./support/arbitraries.ts";
import * as oracle from "./support/oracle.ts";
import { vectors } from "./support/vectors.ts";

interface Vectors {
  hashes: { inputs: bigint[]; domain: bigint; outputs: bigint[] }[];
  nodes: { children: bigint[]; node: bigint }[];
}

describe("Poseidon", () => {
  const { hashes, nodes } = vectors<Vectors>("poseidon");

  it("matches circomlib for 1 to 16 inputs, any domain, one output or all", () => {
    for (const { inputs, domain, outputs } of hashes) {
      expect(poseidonEx(inputs, inputs.length, domain)).to.deep.equal(outputs);
      expect(poseidon(inputs, domain)).to.equal(outputs[0]);
      expect(poseidonEx(inputs, 1, domain)).to.deep.equal([outputs[0]]);
    }
    expect(new Set(hashes.map(({ inputs }) => inputs.length)).size).to.equal(16);
  });

  it("matches circomlib's published vector for (1, 2)", () => {
    const published = 0x115cc0f5e7d690413df64c6b9662e9cf2a3617f2743245519e19607a4417189an;
    expect(poseidon([1n, 2n])).to.equal(published);
  });

  it("hashes a tree node in compression mode", () => {
    for (const { children, node } of nodes) expect(hashNode(children)).to.equal(node);
  });

  it("agrees with circomlibjs on random and extreme inputs", () => {
    const inputs = fc.array(field, { minLength: 1, maxLength: 8 });
    const domain = fc.constantFrom(...Object.values(DOMAIN));
    fc.assert(
      fc.property(inputs, domain, (values, start) => {
        const outputs = values.length;
        expect(poseidonEx(values, outputs, start)).to.deep.equal(oracle.poseidonEx(values, outputs, BigInt(start)));
      }),
      runs(60),
    );
    const children = fc.array(field, { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(children, (values) => {
        expect(hashNode(values)).to.equal(oracle.node(values));
      }),
      runs(20),
    );
  });

  it("separates the domains", () => {
    const hashesOfOne = Object.values(DOMAIN).map((domain) => poseidon([5n, 6n], domain));
    expect(new Set(hashesOfOne).size).to.equal(Object.keys(DOMAIN).length);
  });

  it("rejects anything but 1 to 16 canonical field elements", () => {
    expectCode("INVALID_HASH_INPUT", () => poseidon([]));
    expectCode("INVALID_HASH_INPUT", () => poseidon(new Array(17).fill(1n)));
    expectCode("INVALID_HASH_INPUT", () => poseidon("12" as never));
    expectCode("INVALID_FIELD_ELEMENT", () => poseidon([FIELD_MODULUS]));
    expectCode("INVALID_FIELD_ELEMENT", () => poseidon([-1n]));
    expectCode("INVALID_FIELD_ELEMENT", () => poseidon([1 as never]), /a number/);
    expectCode("INVALID_FIELD_ELEMENT", () => poseidon([1n], -1));
    expectCode("INVALID_FIELD_ELEMENT", () => poseidon([1n], FIELD_MODULUS));
    expectCode("INVALID_HASH_INPUT", () => poseidon([1n], 1.5));
    expectCode("INVALID_HASH_INPUT", () => poseidon([1n], "1" as never));
    expectCode("INVALID_HASH_INPUT", () => hashNode([1n]));
    expectCode("INVALID_FIELD_ELEMENT", () => hashNode(new Array(8).fill(FIELD_MODULUS)));
  });

  it("never returns the whole state", () => {
    expectCode("INVALID_HASH_INPUT", () => poseidonEx([1n, 2n], 3));
    expectCode("INVALID_HASH_INPUT", () => poseidonEx([1n, 2n], 0));
    expectCode("INVALID_HASH_INPUT", () => poseidonEx([1n, 2n], 1.5));
  });
});
