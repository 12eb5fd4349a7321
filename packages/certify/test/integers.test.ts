import { expect } from "chai";
import { type Equation, eliminateIntegers, Monomials } from "../src/integers.ts";

describe("sums of integer equations", () => {
  const WIRES = 60;
  const names = new Monomials(WIRES);
  /** Equations that contain all wires up to one per equation, with coefficients of 200 bits that share no factors. */
  const dense = (count: number): Equation[] =>
    Array.from({ length: count }, (_, i) => ({
      terms: new Map(
        Array.from({ length: count }, (_, wire) => [names.of(0, wire + 1), 2n ** 200n + BigInt((i + 2) ** (wire + 3))]),
      ),
      sources: [],
    }));
  /** All wires but the last are eliminated. */
  const eliminate = (count: number) => eliminateIntegers(dense(count), names, (wire) => wire !== 0 && wire < count);

  it("leave one equation, in which only the last wire occurs", () => {
    const rows = eliminate(5);
    expect(rows.map(({ terms }) => [...terms.keys()])).to.deep.equal([[names.of(0, 5)]]);
    const [row] = rows;
    for (let wire = 1; wire <= 5; wire += 1) {
      const sum = [...row!.weights].reduce((all, [i, k]) => all + k * dense(5)[i]!.terms.get(names.of(0, wire))!, 0n);
      expect(sum).to.equal(row!.terms.get(names.of(0, wire)) ?? 0n);
    }
  });

  it("end before their coefficients become longer than 16,384 bits", () => {
    const bitsOf = ([row]: ReturnType<typeof eliminate>) => row!.terms.get(names.of(0, 30))!.toString(2).length;
    expect(bitsOf(eliminate(30))).to.be.within(10_000, 16_384);
    expect(eliminate(40)).to.deep.equal([]);
  });
});
