import { inverse, mod, P } from "./field.ts";
import { combine, type Form } from "./form.ts";
import type { System } from "./r1cs.ts";

/** wire = scale * root + offset follows from `constraint` and the earlier substitutions. A root of 0 means a constant. */
export interface Substitution {
  readonly constraint: number;
  readonly wire: number;
  readonly root: number;
  readonly scale: bigint;
  readonly offset: bigint;
}

/**
 * A system after substitution. Constraints that equate a wire with a multiple of another wire plus a constant, or with a
 * constant, are substitutions. The other constraints are written over the wires that remain (roots), A B = C; if A or B
 * is a constant, as 0 = C.
 */
export class Normalized {
  readonly system: System;
  readonly substitutions: Substitution[] = [];
  /** Constraints that substitutions used. */
  readonly used: Uint8Array;
  /** Constraints that no values satisfy; then nothing satisfies the system. */
  readonly contradictions: number[] = [];
  readonly #parent: Uint32Array;
  readonly #scale: bigint[];
  readonly #offset: bigint[];
  readonly #sides: (Form[] | undefined)[];
  /** For each root, the quadratic and linear constraints that contain it. */
  readonly #uses: number[][] = [];

  constructor(system: System) {
    this.system = system;
    this.used = new Uint8Array(system.constraints);
    this.#parent = Uint32Array.from({ length: system.wires }, (_, wire) => wire);
    this.#scale = new Array(system.wires).fill(1n);
    this.#offset = new Array(system.wires).fill(0n);
    this.#scale[0] = 0n;
    this.#offset[0] = 1n;
    this.#substitute();
    this.#sides = Array.from({ length: system.constraints });
    for (let i = 0; i < system.constraints; i++) if (this.used[i] === 0) this.#write(i);
  }

  /** The root of a wire; 0 if the wire is a constant. */
  root(wire: number): number {
    let root = wire;
    while (this.#parent[root] !== root) root = this.#parent[root] as number;
    // Each wire on the way then points to the root itself.
    const path: number[] = [];
    for (let at = wire; at !== root; at = this.#parent[at] as number) path.push(at);
    for (let i = path.length - 2; i >= 0; i--) {
      const [at, next] = [path[i] as number, path[i + 1] as number];
      const [s, t] = [this.#scale[at] as bigint, this.#scale[next] as bigint];
      if (this.#offset[next] !== 0n)
        this.#offset[at] = mod(s * (this.#offset[next] as bigint) + (this.#offset[at] as bigint));
      this.#scale[at] = s === 1n ? t : t === 1n ? s : mod(s * t);
      this.#parent[at] = root;
    }
    return root;
  }

  /** A wire as a form over roots. */
  wire(wire: number): Form {
    const root = this.root(wire);
    const [scale, offset] = [this.#scale[wire] as bigint, this.#offset[wire] as bigint];
    return root === 0
      ? { constant: offset, wires: [], coefficients: [] }
      : { constant: offset, wires: [root], coefficients: [scale] };
  }

  /** A, B and C of a constraint over roots; undefined for a substitution or a constraint without roots. */
  sides(constraint: number): readonly Form[] | undefined {
    return this.#sides[constraint];
  }

  isLinear(constraint: number): boolean {
    return this.#sides[constraint]?.length === 1;
  }

  /** The constraints that contain a root. */
  uses(root: number): readonly number[] {
    return this.#uses[root] ?? [];
  }

  #side(constraint: number, side: number): Form {
    const { start, terms, coefficients, values } = this.system;
    let sum = 0n;
    const [first, last] = [start[3 * constraint + side] as number, start[3 * constraint + side + 1] as number];
    const found: [number, bigint][] = [];
    for (let term = first; term < last; term++) {
      const [wire, value] = [terms[term] as number, values[coefficients[term] as number] as bigint];
      const root = this.root(wire);
      if (root === 0) {
        sum += value * (this.#offset[wire] as bigint);
        continue;
      }
      const scale = this.#scale[wire] as bigint;
      if (this.#offset[wire] !== 0n) sum += value * (this.#offset[wire] as bigint);
      found.push([root, scale === 1n ? value : (value * scale) % P]);
    }
    found.sort(([a], [b]) => a - b);
    const [wires, sums]: [number[], bigint[]] = [[], []];
    for (const [wire, value] of found) {
      if (wire === wires.at(-1)) sums[sums.length - 1] = ((sums.at(-1) as bigint) + value) % P;
      else {
        wires.push(wire);
        sums.push(value);
      }
      if (sums.at(-1) === 0n) {
        wires.pop();
        sums.pop();
      }
    }
    return { constant: mod(sum), wires, coefficients: sums };
  }

  /** Whether a side has at most `most` different roots, before sums cancel. */
  #isShort(constraint: number, side: number, most: number): boolean {
    const { start, terms } = this.system;
    const last = start[3 * constraint + side + 1] as number;
    let [one, two, count] = [0, 0, 0];
    for (let term = start[3 * constraint + side] as number; term < last; term++) {
      const root = this.root(terms[term] as number);
      if (root === 0 || root === one || root === two) continue;
      if (++count > most) return false;
      if (count === 1) one = root;
      else two = root;
    }
    return true;
  }

  /** A constraint as [0 = C] if A or B is a constant, otherwise [A, B, C]. */
  #polynomial(constraint: number): Form[] {
    const [a, b, c] = [0, 1, 2].map((side) => this.#side(constraint, side)) as [Form, Form, Form];
    if (a.wires.length === 0) return [combine([1n, c], [-a.constant, b])];
    if (b.wires.length === 0) return [combine([1n, c], [-b.constant, a])];
    return [a, b, c];
  }

  #substitute(): void {
    for (let changed = true; changed; ) {
      changed = false;
      for (let i = 0; i < this.system.constraints; i++)
        if (this.used[i] === 0 && this.#trySubstitute(i)) changed = true;
    }
  }

  #trySubstitute(constraint: number): boolean {
    const linear = [0, 1].some((side) => this.#isShort(constraint, side, 0));
    if (!linear || ![0, 1, 2].every((side) => this.#isShort(constraint, side, 2))) return false;
    const [form] = this.#polynomial(constraint) as [Form];
    const { wires, coefficients } = form;
    if (wires.length === 0 || wires.length > 2) return false;
    // The lower wire stays: circom numbers the signals of a component before those of its subcomponents.
    const wire = wires.at(-1) as number;
    const factor = inverse(mod(-(coefficients.at(-1) as bigint)));
    const root = wires.length === 2 ? (wires[0] as number) : 0;
    const scale = root === 0 ? 0n : mod((coefficients[0] as bigint) * factor);
    const offset = mod(form.constant * factor);
    this.#parent[wire] = root;
    this.#scale[wire] = scale;
    this.#offset[wire] = offset;
    this.used[constraint] = 1;
    this.substitutions.push({ constraint, wire, root, scale, offset });
    return true;
  }

  #write(constraint: number): void {
    const sides = this.#polynomial(constraint);
    const [first] = sides as [Form];
    if (sides.length === 1 && first.wires.length === 0) {
      if (first.constant !== 0n) this.contradictions.push(constraint);
      return;
    }
    this.#sides[constraint] = sides;
    for (const root of new Set(sides.flatMap(({ wires }) => wires))) {
      const list = this.#uses[root];
      if (list === undefined) this.#uses[root] = [constraint];
      else list.push(constraint);
    }
  }
}
