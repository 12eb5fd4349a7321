import { DisjointSets } from "./disjoint-sets.ts";
import { inverse, P } from "./field.ts";
import type { Scaled } from "./steps.ts";

/** A linear equation; only its unknowns matter here. */
interface Equation {
  readonly by: number;
  readonly terms: readonly (readonly [wire: number, coefficient: bigint])[];
}

/** Gaussian elimination stops after so many products, and the rest stays undetermined. */
const MAX_WORK = 4_000_000;

/** Groups equations that share unknowns. */
function blocks(equations: readonly Equation[]): Equation[][] {
  const sets = new DisjointSets();
  const first = ({ terms }: Equation) => (terms[0] as readonly [number, bigint])[0];
  for (const equation of equations) for (const [wire] of equation.terms) sets.join(wire, first(equation));
  const found = new Map<number, Equation[]>();
  for (const equation of equations) {
    const block = sets.find(first(equation));
    const list = found.get(block);
    if (list === undefined) found.set(block, [equation]);
    else list.push(equation);
  }
  return [...found.values()];
}

/** Finds unknowns that linear equations determine. `by` names the equations that determine `wires` together. */
export function solve(equations: readonly Equation[]): { wires: number[]; by: number[] }[] {
  return blocks(equations).flatMap((block) => {
    const wires = eliminate(block);
    return wires.length === 0 ? [] : [{ wires, by: block.map(({ by }) => by) }];
  });
}

function eliminate(block: readonly Equation[]): number[] {
  let work = 0;
  const rows = block.map(({ terms }) => new Map(terms));
  const uses = new Map<number, Set<number>>();
  for (const [index, row] of rows.entries())
    for (const wire of row.keys()) uses.set(wire, (uses.get(wire) ?? new Set()).add(index));
  const left = new Set(rows.keys());
  const pivots: [wire: number, row: number][] = [];
  while (left.size > 0) {
    let best: number | undefined;
    for (const index of left) {
      const size = (rows[index] as Map<number, bigint>).size;
      if (size > 0 && (best === undefined || size < (rows[best] as Map<number, bigint>).size)) best = index;
    }
    if (best === undefined) break;
    left.delete(best);
    const row = rows[best] as Map<number, bigint>;
    let wire: number | undefined;
    for (const candidate of row.keys())
      if (wire === undefined || (uses.get(candidate)?.size ?? 0) < (uses.get(wire)?.size ?? 0)) wire = candidate;
    const pivot = inverse(row.get(wire as number) as bigint);
    pivots.push([wire as number, best]);
    for (const index of [...(uses.get(wire as number) ?? [])]) {
      if (index === best) continue;
      const other = rows[index] as Map<number, bigint>;
      const scale = P - (((other.get(wire as number) as bigint) * pivot) % P);
      for (const [column, value] of row) {
        const sum = ((other.get(column) ?? 0n) + scale * value) % P;
        if (sum === 0n) {
          other.delete(column);
          uses.get(column)?.delete(index);
        } else {
          other.set(column, sum);
          uses.get(column)?.add(index);
        }
      }
      work += row.size;
      if (work > MAX_WORK) return [];
    }
  }
  return pivots.filter(([, row]) => rows[row]?.size === 1).map(([wire]) => wire);
}

/**
 * Sums of equations that contain none of the unknowns that `isEliminated` names. `terms` are the constraints with their
 * factors; only sums of several are returned.
 */
export function eliminated(
  equations: readonly Equation[],
  isEliminated: (wire: number) => boolean,
): { terms: Scaled[]; unknowns: Map<number, bigint> }[] {
  let work = 0;
  const rows = equations.map(({ by, terms }) => ({ unknowns: new Map(terms), sources: new Map([[by, 1n]]) }));
  const uses = new Map<number, Set<number>>();
  for (const [index, { unknowns }] of rows.entries())
    for (const wire of unknowns.keys())
      if (isEliminated(wire)) uses.set(wire, (uses.get(wire) ?? new Set()).add(index));
  const left = new Set(rows.keys());
  const wires = [...uses.keys()].sort((a, b) => (uses.get(a)?.size ?? 0) - (uses.get(b)?.size ?? 0));
  for (const wire of wires) {
    const users = [...(uses.get(wire) ?? [])].filter((index) => left.has(index) && rows[index]?.unknowns.has(wire));
    users.sort((a, b) => (rows[a]?.unknowns.size ?? 0) - (rows[b]?.unknowns.size ?? 0));
    const [first, ...others] = users;
    if (first === undefined) continue;
    left.delete(first);
    const pivot = rows[first] as (typeof rows)[number];
    const factor = inverse(pivot.unknowns.get(wire) as bigint);
    for (const index of others) {
      const row = rows[index] as (typeof rows)[number];
      const scale = P - (((row.unknowns.get(wire) as bigint) * factor) % P);
      for (const [map, from] of [
        [row.unknowns, pivot.unknowns],
        [row.sources, pivot.sources],
      ] as const)
        for (const [key, value] of from) {
          const sum = ((map.get(key) ?? 0n) + scale * value) % P;
          if (sum === 0n) map.delete(key);
          else map.set(key, sum);
        }
      for (const other of pivot.unknowns.keys()) uses.get(other)?.add(index);
      work += pivot.unknowns.size + pivot.sources.size;
      if (work > MAX_WORK) return [];
    }
  }
  return [...left].flatMap((index) => {
    const { unknowns, sources } = rows[index] as (typeof rows)[number];
    return unknowns.size === 0 || sources.size < 2
      ? []
      : [{ unknowns, terms: [...sources].map(([by, scale]) => ({ by, scale })) }];
  });
}
