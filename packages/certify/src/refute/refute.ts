/** Searches two witnesses that agree on the inputs of a circuit and differ in an output. */
import { P } from "../field.ts";
import type { System } from "../r1cs.ts";
import { Field } from "./field.ts";
import { createPair, type Pair } from "./pair.ts";
import type { Choice, Chooser, Solver } from "./solver.ts";

/** What a search may cost. */
export interface SearchLimits {
  /** Wall-clock time, ms. Default: 20,000. */
  readonly milliseconds?: number;
  /** At most so many visits of a constraint and products of an elimination. Default: 50 million. */
  readonly steps?: number;
  /** Size of this thread's heap at which the search stops, MB. Default: 2,000. */
  readonly megabytes?: number;
}

/** The question: do the wires `given` determine the wires `targets`? */
export interface Question {
  readonly system: System;
  /** Wires on which the two witnesses agree. */
  readonly given: readonly number[];
  /** Wires of which one must differ; those that the first checker leaves open are enough. */
  readonly targets: readonly number[];
  /** Default: the scalar field of BN254. */
  readonly prime?: bigint;
  readonly limits?: SearchLimits;
}

/** Two witnesses, which nobody has checked yet. */
export interface Refutation {
  readonly verdict: "refuted";
  /** One value for each wire. If the solver is right, both satisfy every constraint and agree on the given wires. */
  readonly witnesses: readonly [readonly bigint[], readonly bigint[]];
}

/** No two witnesses were found. This does not say that there are none. */
export interface NotRefuted {
  readonly verdict: "unknown";
  readonly reason: "determined" | "limit" | "exhausted";
}

const DEFAULTS: Required<SearchLimits> = { milliseconds: 20_000, steps: 50_000_000, megabytes: 2_000 };
/** All values of a field of at most so many are tried. */
const SMALL_FIELD = 64n;
const MODES = 9;
/** Wrong guesses of the first attempts; later attempts have more. */
const FIRST_CONFLICTS = 40;
/** An attempt stops after so many steps for each guess that may be wrong, and ten for each constraint. */
const STEPS_PER_GUESS = 500;
const MAX_ATTEMPTS = 4_000;
/** Searches for a second witness that is closer to the first. */
const SHRINKS = 3;

/** Repeatable random numbers (xorshift). */
class Guesses {
  #state = 2_654_435_769 | 1;

  below(limit: number): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return (x >>> 0) % limit;
  }

  element(p: bigint): bigint {
    let value = 0n;
    for (let i = 0; i < 9; i++) value = (value << 31n) | BigInt(this.below(2 ** 31));
    return value % p;
  }

  shuffle<T>(list: T[]): T[] {
    for (let i = list.length - 1; i > 0; i--) {
      const other = this.below(i + 1);
      [list[i], list[other]] = [list[other] as T, list[i] as T];
    }
    return list;
  }
}

/** How one attempt guesses. */
interface Mode {
  /** Splits products that are 0 before it guesses values. */
  readonly products: boolean;
  readonly order: readonly number[];
  /** Whether a difference is 0 in the first guess. */
  readonly close: boolean;
  readonly values: "small" | "random" | "mixed";
}

/** Values at which a factor of one of the variable's constraints is 0. */
function roots(solver: Solver, variable: number): bigint[] {
  const { field } = solver;
  const found = new Set<bigint>();
  for (const index of (solver.uses[variable] as number[]).slice(0, 6)) {
    if (solver.isClosed(index)) continue;
    for (const { terms, constant } of solver.left(index))
      if (terms.length === 1 && terms[0]?.[0] === variable && constant !== 0n)
        found.add(field.mod(-constant * field.inverse(terms[0][1])));
    if (found.size >= 3) break;
  }
  return [...found];
}

function valuesFor(solver: Solver, variable: number, wires: number, mode: Mode, guesses: Guesses): bigint[] {
  const { p } = solver.field;
  const isDifference = variable >= wires;
  const domain = solver.domains[variable];
  let values: bigint[];
  if (domain !== undefined) values = [...domain];
  else if (p <= SMALL_FIELD) values = Array.from({ length: Number(p) }, (_, i) => BigInt(i));
  else if (isDifference) values = [0n, 1n, p - 1n, guesses.element(p)];
  else {
    const small = [0n, 1n, p - 1n, 2n];
    const special = [(1n << BigInt(guesses.below(p.toString(2).length - 1))) % p, ...roots(solver, variable)];
    const random = [guesses.element(p), BigInt(guesses.below(256))];
    if (mode.values === "small") values = [...small, ...special, ...random];
    else if (mode.values === "random") values = [...random, ...guesses.shuffle([...special, ...small])];
    else values = guesses.shuffle([...small, ...special, ...random]);
    values = values.slice(0, 6);
  }
  if (domain !== undefined || p <= SMALL_FIELD) if (mode.values !== "small") guesses.shuffle(values);
  if (isDifference) {
    const isZero = (value: bigint) => value === 0n;
    const [zero, others] = [values.filter(isZero), values.filter((value) => !isZero(value))];
    values = mode.close ? [...zero, ...others] : [...others, ...zero];
  }
  return [...new Set(values)];
}

/** A product that is 0, one factor of which contains a difference. */
function splitProduct(solver: Solver, wires: number, guesses: Guesses): readonly Choice[] | undefined {
  for (const index of solver.vanishing) {
    // Equations that were added by a guess are gone if it was wrong.
    if (index >= solver.products.length || solver.isClosed(index) || solver.isSplit(index)) continue;
    const [a, b, c] = solver.left(index);
    if (a.terms.length === 0 || c.terms.length > 0 || c.constant !== 0n) continue;
    if (solver.isNonzero(a) || solver.isNonzero(b)) continue;
    const differs = ({ terms }: typeof a) => terms.some(([variable]) => variable >= wires);
    if (!differs(a) && !differs(b)) continue;
    const choices: Choice[] = [
      { product: index, zero: a },
      { product: index, zero: b },
    ];
    return guesses.below(2) === 0 ? choices : choices.reverse();
  }
  return undefined;
}

function chooser(wires: number, mode: Mode, guesses: Guesses): Chooser {
  /** Where searches for a variable ended: at that mark, those before it had values or did not matter. */
  const ends: { readonly mark: number; readonly at: number }[] = [];
  return (solver) => {
    const lowest = solver.takeLowest();
    while ((ends.at(-1)?.mark ?? 0) > lowest) ends.pop();
    const split = mode.products ? splitProduct(solver, wires, guesses) : undefined;
    if (split !== undefined) return split;
    const matters = (variable: number) =>
      solver.values[variable] === undefined &&
      (solver.uses[variable] as number[]).some((index) => !solver.isClosed(index));
    let at = ends.at(-1)?.at ?? 0;
    while (at < mode.order.length && !matters(mode.order[at] as number)) at++;
    ends.push({ mark: solver.mark, at });
    const variable = mode.order[at];
    if (variable === undefined) return undefined;
    return valuesFor(solver, variable, wires, mode, guesses).map((value) => ({ variable, value }));
  };
}

interface Plan {
  readonly inputs: readonly number[];
  readonly targets: readonly number[];
  /** The wires that are not given. */
  readonly inner: readonly number[];
  /** The variables of differences. */
  readonly differences: readonly number[];
  readonly guesses: Guesses;
}

/** The modes take turns: conditions first, inputs first, differences first, inner wires first, and targets first. */
function modeOf(plan: Plan, attempt: number): Mode {
  const { guesses } = plan;
  const [inputs, inner, differences] = [[...plan.inputs], [...plan.inner], [...plan.differences]];
  const number = attempt % MODES;
  // Public inputs come first. Often they are compared with what is computed from the others, so they are left to follow.
  if ([0, 3, 4, 6].includes(number)) inputs.reverse();
  if (attempt >= MODES)
    for (const list of [inputs, inner, differences]) if (guesses.below(2) === 0) guesses.shuffle(list);
  if (number === 8) {
    // Inputs follow from what they are divided into; a difference that is large often follows from a small one after it.
    const order = [...plan.targets, ...inputs, ...inner, ...differences.reverse()];
    return { products: false, order, close: true, values: attempt < MODES ? "small" : "mixed" };
  }
  const innerFirst = number === 5 || number === 6;
  const values = innerFirst ? [...inner, ...inputs] : [...inputs, ...inner];
  const differencesFirst = number === 1 || number === 4;
  return {
    products: number % 2 === 0 || number === 1,
    order: differencesFirst ? [...differences, ...values] : [...values, ...differences],
    close: number !== 1 && number !== 7,
    values: attempt < MODES && number < 2 ? "small" : number === 2 || number === 7 ? "random" : "mixed",
  };
}

/** The two witnesses of a solved pair. What no constraint restricts is 0, or differs by 1 if it has to differ. */
function witnessesOf({ solver, difference }: Pair, wires: number): [bigint[], bigint[]] {
  const first = Array.from({ length: wires }, (_, wire) => solver.values[wire] ?? 0n);
  const second = first.map((value, wire) => {
    const variable = difference.get(wire);
    if (variable === undefined) return value;
    return solver.field.mod(value + (solver.values[variable] ?? BigInt(solver.nonzero[variable] as number)));
  });
  return [first, second];
}

const countDifferences = ([first, second]: readonly [readonly bigint[], readonly bigint[]]): number =>
  first.filter((value, wire) => value !== second[wire]).length;

/**
 * Searches two witnesses that agree on the given wires and differ in a target. The caller replays them.
 */
export function refute(question: Question): Refutation | NotRefuted {
  const { system, given, targets, prime = P } = question;
  const limits = { ...DEFAULTS, ...question.limits };
  const field = new Field(prime);
  const isGiven = new Set(given);
  const pair = createPair(system, field, isGiven);
  const { solver, difference } = pair;
  const guesses = new Guesses();
  const inner = Array.from({ length: system.wires - 1 }, (_, i) => i + 1).filter((wire) => !isGiven.has(wire));
  const plan: Plan = { inputs: given, targets, inner, differences: [...difference.values()], guesses };
  const end = performance.now() + limits.milliseconds;
  let checked = 0;
  const isOver = () => {
    if (solver.work > limits.steps || performance.now() > end) return true;
    return ++checked % 64 === 0 && process.memoryUsage().heapUsed > limits.megabytes * 1_000_000;
  };
  if (!solver.propagate()) return { verdict: "unknown", reason: "determined" };
  const root = solver.mark;
  const open = targets.filter((wire) => {
    const variable = difference.get(wire);
    return variable !== undefined && solver.values[variable] !== 0n;
  });
  if (open.length === 0) return { verdict: "unknown", reason: "determined" };

  /** @param first the first witness; by default it is searched too */
  const attempt = (target: number, mode: Mode, conflicts: number, first?: readonly bigint[]) => {
    solver.rewind(root);
    const variable = difference.get(target) as number;
    if (solver.values[variable] === undefined) solver.require(variable);
    if (first?.some((value, wire) => !solver.assign(wire, value))) return undefined;
    const most = solver.work + conflicts * (STEPS_PER_GUESS + 10 * system.constraints);
    const isLate = () => solver.work > most || isOver();
    if (!solver.search(chooser(system.wires, mode, guesses), conflicts, isLate)) return undefined;
    return witnessesOf(pair, system.wires);
  };

  let attempts = 0;
  for (; attempts < MAX_ATTEMPTS && !isOver(); attempts++) {
    // Every target has its turn in each mode.
    const target = open[Math.floor(attempts / MODES) % open.length] as number;
    const conflicts = FIRST_CONFLICTS * 2 ** Math.min(8, Math.floor(attempts / (MODES * Math.min(8, open.length))));
    let found = attempt(target, modeOf(plan, attempts), conflicts);
    if (found === undefined) continue;
    for (let i = 0; i < SHRINKS && !isOver(); i++) {
      const mode: Mode = { ...modeOf(plan, i * (MODES + 1)), products: false, close: true };
      const closer = attempt(target, mode, FIRST_CONFLICTS, found[0]);
      if (closer !== undefined && countDifferences(closer) < countDifferences(found)) found = closer;
    }
    return { verdict: "refuted", witnesses: found };
  }
  return { verdict: "unknown", reason: attempts < MAX_ATTEMPTS ? "limit" : "exhausted" };
}
