import type { Random } from "@sotto/test-kit/random";
import type { Side } from "../src/r1cs.ts";
import { type Circuit, type Constraint, SMALL } from "./random-circuit.ts";

const [X1, Y1, BETA, GAMMA, TAU, DELTA, X3, Y3] = [1, 2, 3, 4, 5, 6, 7, 8] as const;

/**
 * The sum of (x1, y1) and (x2, y2) by the formulas of Edwards curves, for random a and d. x2 and y2 are random forms over x1
 * and y1. Half of the circuits have one other coefficient.
 */
export function randomAddition(random: Random): Circuit {
  const any = () => BigInt(random.below(SMALL));
  const unit = () => BigInt(1 + random.below(SMALL - 1));
  const [a, d] = [unit(), unit()];
  const form = (): [bigint, bigint, bigint] => (random.below(3) === 0 ? [any(), any(), any()] : [0n, any(), any()]);
  const [x2, y2] = [form(), form()];
  const side = (values: readonly [bigint, bigint, bigint]): Side =>
    Object.fromEntries(values.map((value, wire) => [wire, value % BigInt(SMALL)]).filter(([, value]) => value !== 0n));
  const minus = (value: bigint) => BigInt(SMALL) - value;
  const constraints: Constraint[] = [
    [{ [X1]: 1n }, side(y2), { [BETA]: 1n }],
    [{ [Y1]: 1n }, side(x2), { [GAMMA]: 1n }],
    [{ [BETA]: 1n }, { [GAMMA]: 1n }, { [TAU]: 1n }],
    [{ [X1]: minus(a), [Y1]: 1n }, side([x2[0] + y2[0], x2[1] + y2[1], x2[2] + y2[2]]), { [DELTA]: 1n }],
    [{ 0: 1n, [TAU]: d }, { [X3]: 1n }, { [BETA]: 1n, [GAMMA]: 1n }],
    [{ 0: 1n, [TAU]: minus(d) }, { [Y3]: 1n }, { [DELTA]: 1n, [BETA]: a, [GAMMA]: minus(1n) }],
  ];
  if (random.below(2) === 0) {
    const constraint = random.below(constraints.length);
    const sides = [...(constraints[constraint] as Constraint)] as [Side, Side, Side];
    const other = random.below(3) === 0 ? 0 : 2;
    const wires = Object.keys(sides[other] as Side);
    const wire = wires[random.below(wires.length)];
    if (wire !== undefined) sides[other] = { ...sides[other], [wire]: unit() };
    constraints[constraint] = sides;
  }
  return { given: 2, results: 0, wires: 9, constraints };
}
