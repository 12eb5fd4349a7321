import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import { DOMAIN, FIELD_MODULUS, hashNode, poseidon, poseidonEx, poseidonRecurrence, toField } from "../src/index.ts";
import { permuteWithBigInts } from "../src/poseidon/permute-bigint.ts";
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

  it("has the same permutation as a recurrence, at every width", () => {
    const dot = (row: readonly bigint[], lanes: readonly bigint[]) =>
      toField(row.reduce((sum, cell, i) => sum + cell * lanes[i]!, 0n));
    const sbox = (lane: bigint) => toField(lane ** 5n);
    const permute = (state: readonly bigint[]) => {
      const { full, matrix, entry, entryConstants, coefficients, partial, exit } = poseidonRecurrence(state.length);
      const round = (lanes: readonly bigint[], index: number, rows: typeof matrix) => {
        const boxes = lanes.map((lane, i) => sbox(lane + full[index]![i]!));
        return rows.map((row) => dot(row, boxes));
      };
      let lanes: readonly bigint[] = state;
      for (let i = 0; i < 3; i++) lanes = round(lanes, i, matrix);
      const [first, ...earlier] = round(lanes, 3, entry).map((lane, i) => toField(lane + entryConstants[i]!));
      // An y, then the u after it.
      const history = earlier.reverse().flatMap((y, i) => [y, i === earlier.length - 1 ? first! : 0n]);
      for (const constant of partial) {
        history.push(sbox(history.at(-1)!));
        history.push(toField(dot(coefficients, history.slice(-coefficients.length)) + constant));
      }
      lanes = [history.at(-1)!, ...exit.map((row) => dot(row, history.slice(-row.length)))];
      for (let i = 4; i < 8; i++) lanes = round(lanes, i, matrix);
      return lanes;
    };
    for (let width = 2; width <= 17; width++) {
      fc.assert(
        fc.property(fc.array(field, { minLength: width, maxLength: width }), (state) => {
          expect(permute(state)).to.deep.equal(permuteWithBigInts(state, width));
        }),
        runs(2),
      );
    }
  });
});
