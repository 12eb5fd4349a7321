import { expect } from "chai";
import { bridge } from "../src/bridge.ts";
import { type Side, systemOf } from "../src/r1cs.ts";
import { replayBridge } from "../src/replay/replay.ts";
import { r1csOf } from "./second-reader.ts";

type Constraint = readonly [Side, Side, Side];
const linear = (side: Side): Constraint => [{}, {}, side];

/**
 * The shipped file has the inputs a and b only. In the source, p + q = 5 and p - q = 1 give p and q together; then p w = a
 * gives w, and w + z = `rest` gives z.
 */
const source = (rest: Side, last: Side = {}): readonly Constraint[] => [
  linear({ 3: 1n, 4: 1n, 0: -5n }),
  linear({ 3: 1n, 4: -1n, 0: -1n }),
  [{ 3: 1n }, { 5: 1n }, { 1: 1n }],
  linear({ 5: 1n, 6: 1n, ...Object.fromEntries(Object.entries(rest).map(([wire, k]) => [wire, -k])) }),
  linear(last),
];

/** The constraints that each checker does not derive. */
function failures(constraints: readonly Constraint[]): [number[], number[]] {
  const [shipped, plain] = [systemOf(3, 2, []), systemOf(7, 2, constraints)];
  return [bridge(shipped, plain, "test").failures, replayBridge(r1csOf(shipped), r1csOf(plain))];
}

describe("the bridge from a shipped file to its source, in both checkers", () => {
  it("chooses no value for a wire to which a later constraint gives one", () => {
    expect(failures(source({ 2: 1n }))).to.deep.equal([[], []]);
  });

  it("finds a constant in the shipped file that only other constants give", () => {
    // l = 2 c, l l = o + c and a c = y for the constant c = 5. The source renames c, and its first constraint alone gives it
    // another value, unless the shipped file's o is a constant too.
    const products = (c: number): Constraint[] => [
      [{ 2: 1n }, { 2: 1n }, { 3: 1n, [c]: 1n }],
      [{ 1: 1n }, { [c]: 1n }, { 4: 1n }],
    ];
    const constant = (c: number, value: bigint) => [linear({ 2: 1n, [c]: -2n }), linear({ [c]: 1n, 0: -value })];
    const shipped = systemOf(6, 1, [...products(5), ...constant(5, 5n)]);
    const plain = (value: bigint) => systemOf(7, 1, [...products(6), ...constant(6, value), linear({ 5: 1n, 6: -1n })]);
    expect(bridge(shipped, plain(5n), "test").failures).to.deep.equal([]);
    expect(replayBridge(r1csOf(shipped), r1csOf(plain(5n)))).to.deep.equal([]);
    expect(bridge(shipped, plain(6n), "test").failures, "another constant (control)").not.to.deep.equal([]);
    expect(replayBridge(r1csOf(shipped), r1csOf(plain(6n))), "another constant (control)").not.to.deep.equal([]);
  });

  it("does not derive a constraint that the values contradict", () => {
    expect(failures(source({ 2: 1n }, { 3: 1n, 0: -3n })), "p = 3 (control)").to.deep.equal([[], []]);
    for (const wrong of [{ 3: 1n, 0: -4n }, { 6: 1n }])
      for (const found of failures(source({ 2: 1n }, wrong))) expect(found).to.have.length(1);
  });
});
