import { createHash } from "node:crypto";
import { type Bridge, BridgeError, bridge } from "./bridge.ts";
import { assertCurve } from "./curve.ts";
import { Determined } from "./determine.ts";
import { CertifyError } from "./errors.ts";
import { Facts } from "./facts.ts";
import { Normalized } from "./normalize.ts";
import { assertPrimes } from "./primes.ts";
import { readSystem, type System } from "./r1cs.ts";
import type { Theorem } from "./replay/certificate.ts";
import type { Determination, Fact, LongDivision } from "./steps.ts";

/** What is found out about one shipped circuit before a theorem is chosen. */
export interface Basis {
  readonly shipped: System;
  readonly plain: System;
  readonly normalized: Normalized;
  readonly facts: Facts;
  readonly bridge: Bridge;
  /** The inputs, as wires of the plain circuit. */
  readonly inputs: readonly number[];
  /** Inputs in no constraint, as wires of the plain circuit. */
  readonly unused: number[];
  /** Inputs that the shipped file has no wire for, as wires of the plain circuit. */
  readonly lacking: number[];
  /** Other reasons why nothing is proven. */
  readonly problems: string[];
}

/** What was found out about a theorem. */
export interface Proof extends Basis {
  readonly determined: Determined;
  /** Wires of the shipped circuit that are not shown to be determined, as wires of the plain one. */
  readonly free: number[];
  /** Wires of the plain circuit taken as given, because they are shown to be v or -v. */
  readonly signs: number[];
  /** Constraints of the plain circuit that determine nothing and that no step uses. */
  readonly asserting: number[];
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/**
 * Reads both files, finds the facts and builds the bridge. The plain r1cs is the same circuit without simplification; it is a
 * hint, and the bridge checks it.
 * @throws CertifyError R1CS_DAMAGED
 */
export function createBasis(shippedFile: Buffer, plainFile: Buffer): Basis {
  assertPrimes();
  assertCurve();
  const [shipped, plain] = [readSystem(shippedFile), readSystem(plainFile)];
  const inputs = inputWires(plain);
  if (inputs.length < plain.inputs && !shippedFile.equals(plainFile))
    throw new CertifyError("the circuit compiled with --O0 lacks an input: compile it again");
  const normalized = new Normalized(plain);
  const facts = new Facts(normalized);
  facts.scan();
  const problems: string[] = [];
  let bridged: Bridge;
  try {
    bridged = bridge(shipped, plain, `${sha256(shippedFile)} ${sha256(plainFile)}`);
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    bridged = { failures: [], chosen: [], map: new Uint32Array(shipped.wires), errorBits: 0 };
    problems.push(error.message);
  }
  if (bridged.failures.length > 0)
    problems.push(`${bridged.failures.length} constraints of the source do not follow from the shipped file`);
  if (normalized.contradictions.length > 0) problems.push("no values satisfy the constraints");
  if (shipped.outputs !== plain.outputs || shipped.publicInputs !== plain.publicInputs)
    problems.push("the shipped file has other public signals than the source");
  if (shipped.inputs !== plain.inputs) problems.push("the shipped file has another number of inputs than the source");
  for (let wire = 0; wire <= plain.outputs + plain.publicInputs; wire++)
    if (bridged.map[wire] !== wire && problems.length === 0)
      problems.push(`public signal ${wire} is another one in the source`);
  const outputs = Array.from({ length: plain.outputs }, (_, i) => 1 + i);
  const labels = new Set(shipped.labels);
  return {
    shipped,
    plain,
    normalized,
    facts,
    bridge: bridged,
    inputs,
    unused: unusedInputs(normalized, inputs, outputs),
    lacking: inputs.filter((wire) => !labels.has(plain.labels[wire] as number)),
    problems,
  };
}

/**
 * Tries to prove that two satisfying assignments of the shipped r1cs that agree on the inputs (and on `signs`) agree on
 * every wire. The theorem is proven if `free` and `problems` are empty.
 * @param withheld public inputs (wires) that must come out determined and are never given
 * @param theorem says which inputs are given. Default: all private ones, and those public ones that nothing else determines
 */
export function determine(basis: Basis, withheld: readonly number[] = [], theorem?: Theorem): Proof {
  const { plain, normalized, facts, bridge: bridged, inputs, unused, lacking } = basis;
  const isPublic = (wire: number) => wire <= plain.outputs + plain.publicInputs;
  const [results, privates] = [inputs.filter(isPublic), inputs.filter((wire) => !isPublic(wire))];
  // A stranger's r1cs file does not say what an input without a wire is, so it is not given.
  const isLacking = new Set(lacking);
  const present = inputs.filter((wire) => !isLacking.has(wire));
  const givenBy: Readonly<Record<Theorem, readonly number[]>> = {
    outputs: present,
    wires: present,
    strong: results,
    source: inputs,
    ports: inputs,
  };
  const given = theorem === undefined ? privates : givenBy[theorem];
  const determined = new Determined(
    normalized,
    facts,
    given,
    theorem === undefined ? results.filter((wire) => !withheld.includes(wire)) : [],
    theorem === undefined,
  );
  const problems = [...basis.problems];
  // An input that circom eliminated is given as a linear expression in the shipped wires.
  const chosen = new Set(bridged.chosen);
  if (theorem === undefined && inputs.some((wire) => chosen.has(wire) && !unused.includes(wire)))
    problems.push("the shipped file does not give an input of the source a value");
  const images = new Set(bridged.map);
  const shippedRoots = new Set([...images].map((wire) => normalized.root(wire)));
  const signs = determined.steps.flatMap((step) => (step.rule === "sign" ? [step.wire] : []));
  if (signs.some((wire) => !shippedRoots.has(wire))) problems.push("a sign is not a wire of the shipped file");
  const constrained = usedWires(plain);
  const free: number[] = [];
  for (let wire = 1; wire < plain.wires; wire++) {
    if (constrained[wire] === 0 && !images.has(wire)) continue;
    if (!determined.isDetermined(wire) && !unused.includes(wire)) free.push(wire);
  }
  const asserting = findAsserting(normalized, facts, determined, [...given, ...determined.givenPublic, ...signs]);
  return { ...basis, determined, free, signs, asserting, problems };
}

/** `determine` for the files of a circuit. @throws CertifyError R1CS_DAMAGED */
export const prove = (shipped: Buffer, plain: Buffer, withheld: readonly number[] = [], theorem?: Theorem): Proof =>
  determine(createBasis(shipped, plain), withheld, theorem);

/** The wires of the inputs, by their labels, because a simplified circuit can lack private inputs. */
export function inputWires({ outputs, publicInputs, inputs, labels }: System): number[] {
  if (labels.subarray(0, 1 + outputs + publicInputs).some((label, wire) => label !== wire))
    throw new CertifyError("the r1cs file does not number its signals as circom does: compile it with circom");
  return [...labels.keys()].filter((wire) => {
    const label = labels[wire] as number;
    return label > outputs && label <= outputs + inputs;
  });
}

export const isProven = ({ free, problems }: Proof): boolean => free.length === 0 && problems.length === 0;

/** Inputs in no constraint, apart from those that only rename them. An output that renames an input depends on it. */
function unusedInputs(normalized: Normalized, inputs: readonly number[], outputs: readonly number[]): number[] {
  const renamed = new Set(outputs.map((wire) => normalized.root(wire)));
  const sharing = new Map<number, number>();
  for (const wire of inputs) sharing.set(normalized.root(wire), (sharing.get(normalized.root(wire)) ?? 0) + 1);
  return inputs.filter((wire) => {
    const root = normalized.root(wire);
    return root !== 0 && normalized.uses(root).length === 0 && sharing.get(root) === 1 && !renamed.has(root);
  });
}

/** 1 for each wire with a term in a constraint. */
function usedWires({ wires, terms }: System): Uint8Array {
  const used = new Uint8Array(wires);
  for (const wire of terms) used[wire] = 1;
  return used;
}

/** The wires of a constraint, without the constant 1. */
export function constraintWires({ start, terms }: System, constraint: number): number[] {
  const found = new Set(terms.subarray(start[3 * constraint] as number, start[3 * constraint + 3] as number));
  found.delete(0);
  return [...found];
}

/** The constraints and facts that a fact rests on. */
function premises(fact: Fact): { facts: number[]; constraints: number[] } {
  switch (fact.rule) {
    case "boolean":
    case "inverse":
      return { facts: [], constraints: [fact.by] };
    case "curve":
      return { facts: [], constraints: [fact.square.by, fact.cubic.by, fact.root.by] };
    case "double":
      return {
        facts: [fact.point],
        constraints: [fact.square.by, fact.slope.by, fact.first?.by ?? -1, fact.second?.by ?? -1],
      };
    case "odd":
    case "minus_one":
      return { facts: [fact.point], constraints: [] };
    case "scale":
      return { facts: [fact.point], constraints: [fact.square.by, ...fact.cubes.map(({ by }) => by)] };
    case "sign":
      return { facts: [fact.scale], constraints: [fact.by] };
    case "step":
      return { facts: [fact.sum, fact.unit], constraints: [fact.slope.by, fact.first.by] };
    case "stepped":
      return { facts: [fact.step], constraints: [fact.line.by, fact.third.by, fact.last.by] };
    case "window":
      return { facts: fact.scale === undefined ? [] : [fact.scale], constraints: [fact.by, fact.other] };
    case "start":
      return { facts: fact.point.scale === undefined ? [] : [fact.point.scale], constraints: [] };
    case "add":
      return { facts: [fact.sum, fact.window], constraints: [fact.line.by] };
    case "added":
      return { facts: [fact.add], constraints: [fact.first.by, fact.second.by] };
    case "edwards":
      return { facts: [fact.point], constraints: [fact.x.by, fact.y.by] };
    case "baby_check":
      return { facts: [], constraints: [fact.by, fact.x.by, fact.y.by] };
    case "complete":
      return {
        facts: [fact.first, ...(fact.second < 0 ? [] : [fact.second])],
        constraints: [fact.beta.by, fact.gamma.by, fact.tau.by],
      };
    case "rootless":
      return { facts: [], constraints: [fact.square.by] };
    case "compare":
      return { facts: [], constraints: fact.terms.map(({ by }) => by) };
    case "completed":
      return { facts: [fact.complete], constraints: [fact.delta.by, fact.x.by, fact.y.by] };
    case "nonsquare":
      return { facts: [], constraints: [fact.by, ...fact.definitions.map(({ by }) => by)] };
    case "table":
      return { facts: [], constraints: fact.definitions.map(({ by }) => by) };
    case "lift":
      return { facts: [fact.edwards, fact.nonzero], constraints: [fact.u.by, fact.v.by] };
    case "twice":
      return {
        facts: [fact.point],
        constraints: [fact.square.by, fact.slope.by, fact.first.by, fact.second.by],
      };
    case "sum":
      return { facts: [fact.first, fact.second], constraints: [fact.line.by, fact.square.by, fact.last.by] };
    case "choice":
      return { facts: [fact.zero, fact.one], constraints: [fact.u.by, fact.v.by] };
    case "lower":
      return { facts: [fact.point], constraints: [fact.x.by, fact.y.by] };
    case "replace":
      return { facts: [fact.edwards], constraints: [fact.empty.by, fact.full.by, fact.x.by, fact.y.by] };
  }
}

/** The bits and signs that a fact rests on. */
function wiresOf(fact: Fact, normalized: Normalized): readonly number[] {
  if (fact.rule === "compare")
    return fact.terms.flatMap(({ by }) => normalized.sides(by)?.flatMap(({ wires }) => wires) ?? []);
  if (fact.rule === "window" || fact.rule === "start") return fact.wires;
  if (fact.rule === "table") return fact.bits;
  if (fact.rule === "choice") return [fact.bit];
  return fact.rule === "step" ? [fact.sign] : [];
}

const constraintsOf = (step: Determination): readonly number[] => {
  if (step.rule === "one_hot") return [step.by, ...step.flags];
  if (step.rule === "case") return [step.zero, step.other];
  if (step.rule === "bits") return [step.by, ...(step.more ?? []).map(({ by }) => by)];
  if (step.rule === "root") return [step.by, step.sum];
  if (step.rule === "division")
    return [step.by, ...step.ranges.filter((by) => by >= 0), ...step.less.map(({ by }) => by)];
  if (step.rule === "long_division") return constraintsOfLong(step);
  return step.rule === "system" || step.rule === "either" ? step.by : [step.by];
};

function constraintsOfLong(step: LongDivision): number[] {
  const { ranges, flags, equations, remainder, definitions, checks } = step;
  return [
    ...[...ranges, ...definitions].map(({ by }) => by),
    ...flags.flatMap(({ zero, other }) => [zero, other]),
    ...equations.flatMap(({ terms }) => terms.map(({ by }) => by)),
    ...remainder.flatMap(({ terms, equal }) => [...terms, ...(equal?.terms ?? [])].map(({ by }) => by)),
    ...checks,
  ];
}

function wiresDetermined(step: Determination): readonly number[] {
  if (step.rule === "long_division") return [...step.quotient, ...step.remainder].map(({ wire }) => wire);
  if (step.rule === "division") return [step.quotient, step.remainder];
  return "wires" in step ? step.wires : [step.wire];
}

/** Constraints that no step rests on: they only refuse assignments. */
function findAsserting(
  normalized: Normalized,
  facts: Facts,
  determined: Determined,
  given: readonly number[],
): number[] {
  const { system } = normalized;
  const used = new Uint8Array(system.constraints);
  const needed = new Uint8Array(facts.steps.length);
  const choices = new Map<number, number>();
  for (const [index, fact] of facts.steps.entries())
    if (fact.rule === "boolean" || fact.rule === "sign") choices.set(fact.wire, index);
  const need = (fact: number) => {
    const queue = [fact];
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      if (at < 0 || needed[at] === 1) continue;
      needed[at] = 1;
      const { facts: others, constraints } = premises(facts.steps[at] as Fact);
      for (const constraint of constraints) if (constraint >= 0) used[constraint] = 1;
      queue.push(...others, ...wiresOf(facts.steps[at] as Fact, normalized).map((wire) => choices.get(wire) ?? -1));
    }
  };
  const known = new Uint8Array(system.wires);
  known[0] = 1;
  for (const wire of given) known[wire] = 1;
  for (const step of determined.steps) {
    for (const constraint of constraintsOf(step)) used[constraint] = 1;
    if (step.rule === "linear") need(step.nonzero);
    const wires = wiresDetermined(step);
    if (step.rule === "bits" || step.rule === "root") need(step.below ?? -1);
    if (step.rule === "root") need(step.half ?? -1);
    if (step.rule === "root" || step.rule === "division" || step.rule === "long_division")
      for (const constraint of constraintsOf(step))
        for (const { wires: bits } of normalized.sides(constraint) ?? [])
          for (const bit of bits) need(choices.get(bit) ?? -1);
    if (step.rule === "bits") for (const wire of wires) need(choices.get(wire) as number);
    if (step.rule === "sign") need(choices.get(step.wire) as number);
    for (const wire of wires) known[wire] = 1;
  }
  // A substitution that reaches a new wire determines it. One between wires that are already known only compares them.
  const substitutions = normalized.substitutions.map(({ constraint }) => constraint);
  const open = new Map<number, Set<number>>();
  const uses = new Map<number, number[]>();
  const queue: number[] = [];
  for (const constraint of substitutions) {
    const left = new Set(constraintWires(system, constraint).filter((wire) => known[wire] === 0));
    open.set(constraint, left);
    for (const wire of left) {
      const list = uses.get(wire);
      if (list === undefined) uses.set(wire, [constraint]);
      else list.push(constraint);
    }
    if (left.size === 1) queue.push(constraint);
  }
  for (let constraint = queue.pop(); constraint !== undefined; constraint = queue.pop()) {
    const [wire] = open.get(constraint) as Set<number>;
    if (wire === undefined) continue;
    used[constraint] = 1;
    for (const use of uses.get(wire) ?? []) {
      const left = open.get(use) as Set<number>;
      left.delete(wire);
      if (left.size === 1) queue.push(use);
    }
  }
  for (const constraint of substitutions) if ((open.get(constraint) as Set<number>).size > 0) used[constraint] = 1;
  return [...used.keys()].filter((constraint) => used[constraint] === 0);
}
