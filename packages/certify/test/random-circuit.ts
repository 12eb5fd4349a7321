import type { Random } from "@sotto/test-kit/random";
import type { Side } from "../src/r1cs.ts";

/** The prime of the small field: every assignment of a few wires can be tried. */
export const SMALL = 5;
/** Wires besides the constant 1, at most: 3,125 assignments. */
const MAX_WIRES = 5;

export type Constraint = readonly [Side, Side, Side];

/** Wires 1 to `given` are private inputs, the next `results` are public inputs, and the others are signals. */
export interface Circuit {
  readonly given: number;
  readonly results: number;
  readonly wires: number;
  readonly constraints: readonly Constraint[];
}

export const range = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i);

/** A random circuit: patterns that the rules look for, with random wires and coefficients, and constraints of no pattern. */
export function randomCircuit(random: Random): Circuit {
  const below = (limit: number) => random.below(limit);
  const unit = () => BigInt(1 + below(SMALL - 1));
  const [results, signals] = [1 + below(3), 1 + below(2)];
  const given = below(MAX_WIRES + 1 - results - signals);
  const inputs = given + results;
  const wires = 1 + inputs + signals;
  const any = () => 1 + below(wires - 1);
  const input = () => 1 + below(inputs);
  const signal = () => 1 + inputs + below(signals);
  const form = (terms: number, wire = any): Side => ({
    ...(below(3) === 0 ? { 0: unit() } : {}),
    ...Object.fromEntries(range(0, terms).map(() => [wire(), unit()])),
  });
  const some = () => form(1 + below(2));
  const bit = (wire: number): Constraint => [{ [wire]: 1n }, { [wire]: 1n, 0: BigInt(SMALL - 1) }, {}];
  const square = (root: number, of = any()): Constraint => [{ [root]: 1n }, { [root]: unit() }, { [of]: unit() }];
  const patterns: (() => Constraint[])[] = [
    () => [[{}, {}, form(2 + below(2))]],
    () => [[some(), some(), below(3) === 0 ? {} : some()]],
    () => [[some(), some(), { 0: unit() }]],
    () => [square(any())],
    // F G = 0 and F Y = H, where G and H contain a wire, which may also be a square root.
    () => {
      const [wire, condition] = [signal(), input()];
      const factor = { [condition]: 1n };
      const pair: Constraint[] = [
        [factor, { ...form(1, input), [wire]: unit() }, {}],
        [factor, { [any()]: unit() }, { ...form(1, input), [wire]: unit() }],
      ];
      return below(2) === 0 ? pair : [...pair, square(wire, below(2) === 0 ? condition : any())];
    },
    // Two bits whose sums differ, or do not.
    () => {
      const [low, high] = [signal(), signal()];
      return [bit(low), bit(high), [{}, {}, { [input()]: unit(), [low]: 1n, [high]: unit() }]];
    },
    // Two flags, at most one of which is set, or not.
    () => {
      const [place, one, two] = [input(), signal(), signal()];
      const flag = (wire: number): Constraint => [{ [wire]: 1n }, { [place]: 1n, 0: unit() }, {}];
      return [flag(one), flag(two), [{}, {}, { [input()]: unit(), [one]: unit(), [two]: unit() }]];
    },
    // A wire with two linear constraints whose factors are not both 0, or may be.
    () => {
      const [wire, place] = [signal(), input()];
      return range(0, 2).map(
        (): Constraint => [{ [wire]: unit(), ...form(1, input) }, { [place]: unit(), 0: unit() }, form(1, input)],
      );
    },
    // Two bits whose sum contains another wire, which is a multiple of one.
    () => {
      const [low, high, sum] = [any(), any(), any()];
      return [
        bit(low),
        bit(high),
        [{}, {}, { [sum]: unit(), [low]: unit() }],
        [{}, {}, { [input()]: unit(), [sum]: unit(), [high]: unit() }],
      ];
    },
    // A square less a number.
    () => {
      const [root, result] = [any(), any()];
      return [square(root, result), [{ [result]: unit(), 0: unit() }, { [signal()]: unit() }, form(1, input)]];
    },
    // A square root that is a sum of bits.
    () => {
      const [root, low, high] = [any(), any(), any()];
      return [square(root, input()), bit(low), bit(high), [{}, {}, { [root]: unit(), [low]: unit(), [high]: unit() }]];
    },
    // Two equations in two wires.
    () => {
      const [first, second] = [signal(), signal()];
      return range(0, 2).map((): Constraint => [{}, {}, { ...form(1, input), [first]: unit(), [second]: unit() }]);
    },
  ];
  const chosen = range(0, 1 + below(3)).flatMap(() => (patterns[below(patterns.length)] as () => Constraint[])());
  return { given, results, wires, constraints: chosen };
}
