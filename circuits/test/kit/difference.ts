import { P } from "./field.ts";
import { type R1cs, sidesOf, type Term } from "./r1cs.ts";

/**
 * The constraints of `whole` that `part` lacks (as indices of `whole`), and how many of `part` are not in `whole`. For
 * two systems over the same signals (both compiled without simplification); `wires` says which wire of `whole` a wire
 * of `part` is.
 */
export function difference(whole: R1cs, part: R1cs, wires: Uint32Array): { missing: Set<number>; foreign: number } {
  if (whole.wires !== part.wires) throw new Error(`${whole.wires} and ${part.wires} wires: not the same signals`);
  // With the same wires the compiler writes a constraint in the same bytes; otherwise signs and terms may differ.
  const same = wires.every((there, here) => there === here);
  const identity = Uint32Array.from(wires.keys());
  const counts = new Map<string, number>();
  for (const constraint of keys(part, same ? undefined : wires))
    counts.set(constraint, (counts.get(constraint) ?? 0) + 1);
  const missing = new Set<number>();
  for (const [index, constraint] of keys(whole, same ? undefined : identity).entries()) {
    const left = counts.get(constraint) ?? 0;
    if (left === 0) missing.add(index);
    else counts.set(constraint, left - 1);
  }
  let foreign = 0;
  for (const left of counts.values()) foreign += left;
  return { missing, foreign };
}

/** Each constraint as a string, equal for equal constraints; with `wires` renamed, terms and sign put in order. */
function keys(r1cs: R1cs, wires?: Uint32Array): string[] {
  return Array.from({ length: r1cs.constraints }, (_, index) => {
    const [start, end] = [r1cs.offsets[index] as number, r1cs.offsets[index + 1] as number];
    if (wires === undefined) return r1cs.bytes.toString("latin1", start, end);
    const sides = sidesOf(r1cs, index).map((terms) =>
      terms.map(([wire, value]): Term => [wires[wire] as number, value]).sort((a, b) => a[0] - b[0]),
    );
    const linear = sides[0]?.length === 0 || sides[1]?.length === 0;
    if (linear && sides[2]?.[0] !== undefined && sides[2][0][1] > P / 2n)
      sides[2] = sides[2].map(([wire, value]): Term => [wire, P - value]);
    return sides.map((terms) => terms.map((term) => term.join("*")).join("+")).join("|");
  });
}
