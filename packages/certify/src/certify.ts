/** Certifies a circuit from its files. Both checkers must agree before anything is said about it. */
import { Explanation, type Finding, findingLines, readNames } from "./explain.ts";
import type { Place, Places } from "./locate.ts";
import { inputWires, parseR1cs, type R1cs } from "./replay/r1cs.ts";
import { replay, replayBridge } from "./replay/replay.ts";
import { isProven, type Proof, prove, sha256 } from "./theorem.ts";

/** What is committed for each circuit. A change of the circuit that matters to the proof changes it. */
export interface Certificate {
  circuit: string;
  /** SHA-256 of the .r1cs file that the theorem is about. */
  r1cs: string;
  /** Number of constraints of that file. */
  constraints: number;
  /** Number of its wires, with the constant 1. */
  wires: number;
  /** Public inputs on which two assignments must agree; the other public inputs then agree too. */
  given: string[];
  results: string[];
  /** Wires proven to be plus or minus another one, on which two assignments must agree too. */
  signs: Record<string, number>;
  /** Inputs in no constraint. */
  unused: string[];
  rules: Record<string, number>;
  lemmas: Record<string, number>;
  /** Constraints that determine nothing but refuse assignments. */
  asserting: Record<string, number>;
}

/** The inputs of a certificate. */
export interface CircuitFiles {
  readonly name: string;
  /** The .r1cs file that the theorem is about. */
  readonly shipped: Buffer;
  /** The same circuit without simplification. */
  readonly plain: { readonly r1cs: Buffer; readonly sym: string };
  readonly places: Places;
  /** Names the place of a constraint. Default: file and statement. */
  readonly nameOf?: (place: Place) => string;
}

const fileAndText = ({ file, text }: Place): string => `${file}: ${text}`;

/** What `certifyFiles` found out: the proof, its summary and what is missing. */
export interface Result {
  readonly proof: Proof;
  readonly explanation: Explanation;
  readonly certificate: Certificate;
  readonly findings: Finding[];
  /** Constraints of the source that do not follow from the shipped file, by place. */
  readonly missing: Record<string, number>;
}

const count = <Key extends string>(keys: Iterable<Key>): Record<string, number> => {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
};

/**
 * Replays a proof with the second checker.
 * @returns the wires of the plain circuit that it leaves undetermined. Throws an Error at the first step that does not follow.
 */
export function replayProof(
  plain: R1cs,
  { normalized, facts, determined }: Pick<Proof, "normalized" | "facts" | "determined">,
): number[] {
  const { publicOutputs, publicInputs } = plain;
  const privates = inputWires(plain).filter((wire) => wire > publicOutputs + publicInputs);
  return replay(plain, { substitutions: normalized.substitutions, facts: facts.steps, steps: determined.steps }, [
    ...privates,
    ...determined.givenPublic,
  ]);
}

/** Reasons why the second checker, which shares no code with the first one, does not follow a proof. */
export function recheck(proof: Proof, shippedFile: Buffer, plainFile: Buffer): string[] {
  const [shipped, plain] = [parseR1cs(shippedFile, "the shipped file"), parseR1cs(plainFile, "the source's file")];
  const claimed = new Set(proof.plain.terms);
  for (const wire of proof.bridge.map) claimed.add(wire);
  for (const wire of [...proof.free, ...proof.unused]) claimed.delete(wire);
  try {
    const left = replayProof(plain, proof).filter((wire) => claimed.has(wire)).length;
    const missing = replayBridge(shipped, plain).length;
    return [
      ...(left === 0 ? [] : [`the second checker leaves ${left} wires undetermined that the first one determines`]),
      ...(missing === 0
        ? []
        : [`the second checker does not derive ${missing} constraints of the source from the shipped file`]),
    ];
  } catch (error) {
    return [`the second checker refuses the proof: ${(error as Error).message}`];
  }
}

/**
 * Proves what can be proven about a shipped r1cs. Both checkers must agree before anything is said about it.
 * @param results names of public signals that must come out determined
 */
export function certifyFiles(files: CircuitFiles, results: readonly string[] = []): Result {
  const result = proveFiles(files, results);
  const { proof } = result;
  // Nothing is claimed about a circuit that has problems.
  if (proof.problems.length === 0) proof.problems.push(...recheck(proof, files.shipped, files.plain.r1cs));
  return result;
}

/** The first checker's part of `certifyFiles`. */
export function proveFiles(files: CircuitFiles, results: readonly string[]): Result {
  const { name, shipped, plain, places, nameOf = fileAndText } = files;
  const names = readNames(plain.sym);
  // `names` is by label. Without simplification (--O0), the label of a signal is also the number of its wire.
  const withheld = [...names]
    .filter(([, signal]) => results.includes(signal.replace(/^main\./, "")))
    .map(([wire]) => wire);
  const proof = prove(shipped, plain.r1cs, withheld);
  const explanation = new Explanation(proof, names, places);
  const publics = Array.from({ length: proof.plain.publicInputs }, (_, i) => 1 + proof.plain.outputs + i);
  const isGiven = new Set(proof.determined.givenPublic);
  const short = (wire: number) => explanation.name(wire).replace(/^main\./, "");
  const unused = new Set(proof.unused);
  for (const wire of withheld.filter((one) => unused.has(one)))
    proof.problems.push(`${short(wire)} was determined by the other inputs, and is in no constraint now`);
  const certificate: Certificate = {
    circuit: name,
    r1cs: sha256(shipped),
    constraints: proof.shipped.constraints,
    wires: proof.shipped.wires,
    given: publics.filter((wire) => isGiven.has(wire)).map(short),
    results: publics.filter((wire) => !isGiven.has(wire) && !unused.has(wire)).map(short),
    signs: count(proof.signs.map((wire) => short(wire).replace(/\[\d+\]$/, ""))),
    unused: proof.unused.map(short),
    rules: {
      substitution: proof.normalized.substitutions.length,
      ...count(proof.determined.steps.map(({ rule }) => rule)),
    },
    lemmas: count(proof.facts.steps.map(({ rule }) => rule)),
    asserting: explanation.assertions(nameOf),
  };
  const findings = proof.free.length > 0 ? explanation.findings() : [];
  return { proof, explanation, certificate, findings, missing: explanation.bridgeFailures(nameOf) };
}

/** Lines that say why a circuit is not certified; empty if it is. */
export function problemLines({ proof, findings, missing }: Result): string[] {
  if (isProven(proof)) return [];
  return [
    ...proof.problems,
    ...Object.entries(missing).map(([place, times]) => `  missing in the shipped file: ${place} (${times} times)`),
    ...(proof.free.length > 0 ? [`${proof.free.length} wires are not shown to be determined; first of all:`] : []),
    ...findings.flatMap(findingLines),
  ];
}
