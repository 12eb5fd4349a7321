import { P } from "@sotto/certify/check/field";
import { type R1cs, sidesOf, TERM_BYTES, type Term } from "@sotto/certify/check/r1cs";

/** Marks a wire of `part` that `whole` does not have. */
const NONE = 0xffffffff;

/**
 * Returns the constraints of `whole` that `part` lacks (as indices of `whole`), and how many of `part` are not in `whole`.
 * Both are compiled without simplification, so a wire is a label; `labels` maps each label of `whole` to one of `part`.
 * Constraints of `part` on wires that `whole` does not have are ignored.
 */
export function difference(whole: R1cs, part: R1cs, labels: Uint32Array): { missing: Set<number>; foreign: number } {
  const wires = new Uint32Array(part.labels).fill(NONE);
  for (const [there, here] of labels.entries()) wires[here] = there;
  const left = new Map<string, number[]>();
  for (const index of constraintsOn(part, labels)) {
    const key = renamedKey(part, index, wires);
    if (key !== undefined) add(left, key, index);
  }
  // Most constraints are equal byte for byte.
  const missing: number[] = [];
  for (const [index, key] of keysOf(whole).entries()) if (left.get(key)?.pop() === undefined) missing.push(index);
  // The others may differ in sign and in the order of terms.
  const others = new Map<string, number[]>();
  for (const index of [...left.values()].flat()) add(others, normalKey(part, index, wires), index);
  const really = missing.filter((index) => others.get(normalKey(whole, index))?.pop() === undefined);
  return { missing: new Set(really), foreign: [...others.values()].flat().length };
}

/** The constraints of each wire but the constant in sequence; those of wire w end at ends[w]. */
interface Uses {
  constraints: Uint32Array;
  ends: Uint32Array;
  /** Constraints without any other wire than the constant. */
  constant: readonly number[];
}

const knownUses = new WeakMap<R1cs, Uses>();

/** Made once, because the cheaters of one compilation are compared one after another. */
function usesOf(r1cs: R1cs): Uses {
  let uses = knownUses.get(r1cs);
  if (uses !== undefined) return uses;
  const ends = new Uint32Array(r1cs.wires);
  const occurs = new Uint8Array(r1cs.constraints);
  forOccurrences(r1cs, (wire, constraint) => {
    ends[wire]! += 1;
    occurs[constraint] = 1;
  });
  for (let wire = 1; wire < ends.length; wire++) ends[wire]! += ends[wire - 1]!;
  const constraints = new Uint32Array(ends.at(-1) ?? 0);
  const next = new Uint32Array(ends.length);
  next.set(ends.subarray(0, -1), 1);
  forOccurrences(r1cs, (wire, constraint) => {
    constraints[next[wire]!] = constraint;
    next[wire]! += 1;
  });
  uses = { constraints, ends, constant: [...occurs.keys()].filter((constraint) => occurs[constraint] === 0) };
  knownUses.set(r1cs, uses);
  return uses;
}

/** Visits every occurrence of a wire other than the constant, constraint by constraint. */
function forOccurrences(
  { bytes, constraints, offsets }: R1cs,
  visit: (wire: number, constraint: number) => void,
): void {
  for (let index = 0; index < constraints; index++)
    for (let position = offsets[index]!; position < offsets[index + 1]!; ) {
      const last = position + 4 + bytes.readUInt32LE(position) * TERM_BYTES;
      for (position += 4; position < last; position += TERM_BYTES) {
        const wire = bytes.readUInt32LE(position);
        if (wire !== 0) visit(wire, index);
      }
    }
}

/** The constraints that contain one of these wires or none but the constant, in ascending order. */
function constraintsOn(r1cs: R1cs, wires: Uint32Array): number[] {
  const { constraints, ends, constant } = usesOf(r1cs);
  const found = new Uint8Array(r1cs.constraints);
  for (const constraint of constant) found[constraint] = 1;
  for (const wire of wires)
    for (let use = wire === 0 ? 0 : ends[wire - 1]!; use < ends[wire]!; use++) found[constraints[use]!] = 1;
  const indices: number[] = [];
  for (let at = found.indexOf(1); at >= 0; at = found.indexOf(1, at + 1)) indices.push(at);
  return indices;
}

const add = (map: Map<string, number[]>, key: string, index: number): void => {
  const list = map.get(key);
  if (list === undefined) map.set(key, [index]);
  else list.push(index);
};

const knownKeys = new WeakMap<R1cs, string[]>();

/** The bytes of every constraint, as strings. Made once, because the attacked circuit is compared with every cheater. */
function keysOf(r1cs: R1cs): string[] {
  let keys = knownKeys.get(r1cs);
  if (keys !== undefined) return keys;
  const { bytes, offsets, constraints } = r1cs;
  keys = Array.from({ length: constraints }, (_, index) =>
    bytes.toString("latin1", offsets[index], offsets[index + 1]),
  );
  knownKeys.set(r1cs, keys);
  return keys;
}

/** A constraint's bytes with its wires renamed, as a string; undefined if one of the wires has no new name. */
function renamedKey({ bytes, offsets }: R1cs, index: number, wires: Uint32Array): string | undefined {
  const [start, end] = [offsets[index] as number, offsets[index + 1] as number];
  const renamed = Buffer.allocUnsafe(end - start);
  bytes.copy(renamed, 0, start, end);
  for (let position = 0; position < renamed.length; ) {
    const last = position + 4 + renamed.readUInt32LE(position) * TERM_BYTES;
    for (position += 4; position < last; position += TERM_BYTES) {
      const wire = wires[renamed.readUInt32LE(position)] as number;
      // The constraint connects an input of the cheater with the main that contains all cheaters.
      if (wire === NONE) return undefined;
      renamed.writeUInt32LE(wire, position);
    }
  }
  return renamed.toString("latin1");
}

/** A constraint as a string, equal for equal constraints: wires are renamed, terms sorted and the sign normalized. */
function normalKey(r1cs: R1cs, index: number, wires?: Uint32Array): string {
  const sides = sidesOf(r1cs, index).map((terms) =>
    terms.map(([wire, value]): Term => [wires?.[wire] ?? wire, value]).sort((a, b) => a[0] - b[0]),
  );
  const linear = sides[0]?.length === 0 || sides[1]?.length === 0;
  if (linear && sides[2]?.[0] !== undefined && sides[2][0][1] > P / 2n)
    sides[2] = sides[2].map(([wire, value]): Term => [wire, P - value]);
  return sides.map((terms) => terms.map((term) => term.join("*")).join("+")).join("|");
}
