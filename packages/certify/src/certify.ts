import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { CommandError } from "@sotto/command/command";
import { readCircuitTable } from "@sotto/keys/circuits/circuits-json";
import { circom } from "@sotto/keys/circuits/compiler";
import { sha256, toJson } from "@sotto/keys/circuits/files";
import {
  artifactPaths,
  buildFolder,
  type CircuitName,
  circomLibraryFolder,
  circuitsFolder,
  packageVersion,
  root,
} from "@sotto/keys/circuits/paths";
import { sourceFiles, sourceHash } from "@sotto/keys/circuits/sources";
import { isFresh, writeStamp } from "@sotto/keys/circuits/stamp";
import { Explanation, type Finding, readNames } from "./explain.ts";
import { type Place, Places } from "./locate.ts";
import { parseR1cs } from "./replay/r1cs.ts";
import { replay, replayBridge } from "./replay/replay.ts";
import { readSources } from "./source/sources.ts";
import { readTags } from "./source/tags.ts";
import { isProven, type Proof, prove } from "./theorem.ts";

/** Columns of a line. */
const MAX_LINE = 120;
export const certificatesFolder = join(circuitsFolder, "certificates");

/** What is committed for each circuit. A change of the circuit that matters to the proof changes it. */
export interface Certificate {
  circuit: string;
  /** SHA-256 of the .r1cs file that the theorem is about. */
  r1cs: string;
  constraints: number;
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

/** What a certificate is made from. */
export interface CircuitFiles {
  readonly name: string;
  /** The .r1cs file that the theorem is about. */
  readonly shipped: Buffer;
  /** The same circuit without simplification. */
  readonly plain: { readonly r1cs: Buffer; readonly sym: string };
  readonly places: Places;
}

export interface Result {
  readonly proof: Proof;
  readonly explanation: Explanation;
  readonly certificate: Certificate;
  readonly findings: Finding[];
  /** Constraints of the source that do not follow from the shipped file, by place. */
  readonly missing: Record<string, number>;
}

/** The files of a circuit compiled without simplification; a later call with the same sources reuses them. */
export async function compilePlain(
  source: string,
  folder: string,
  libraries: readonly string[],
): Promise<{ r1cs: string; sym: string }> {
  const name = basename(source, ".circom");
  const [r1cs, sym, stamp] = ["r1cs", "sym", "stamp"].map((extension) => join(folder, `${name}.${extension}`)) as [
    string,
    string,
    string,
  ];
  const versions = ["circom2", "circomlib"].map((dependency) => `${dependency}@${packageVersion(dependency)}`);
  const inputs = sourceHash(source, [...libraries], [name, "--O0", ...versions]);
  if (isFresh(stamp, inputs, [r1cs, sym])) return { r1cs, sym };
  mkdirSync(folder, { recursive: true });
  const scratch = mkdtempSync(join(folder, ".circom-"));
  try {
    await circom(source, [
      ...libraries.flatMap((library) => ["-l", library]),
      "-o",
      scratch,
      "--O0",
      "--r1cs",
      "--sym",
    ]);
    rmSync(stamp, { force: true });
    renameSync(join(scratch, `${name}.r1cs`), r1cs);
    renameSync(join(scratch, `${name}.sym`), sym);
    writeStamp(stamp, inputs, [r1cs, sym]);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return { r1cs, sym };
}

/** Names a constraint by its group's tag in our circuits, and by file and statement elsewhere. */
function placeNames(): (place: Place) => string {
  const tags = readTags(readSources());
  return ({ file, line, text }) => {
    const before = tags.filter((tag) => tag.file === file && tag.line <= line);
    const tag = before.at(-1);
    return tag?.id ?? `${file}: ${text}`;
  };
}

const count = <Key extends string>(keys: Iterable<Key>): Record<string, number> => {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
};

/** Reasons why the second checker, which shares no code with the first one, does not follow a proof. */
export function recheck(proof: Proof, shippedFile: Buffer, plainFile: Buffer): string[] {
  const [shipped, plain] = [parseR1cs(shippedFile, "the shipped file"), parseR1cs(plainFile, "the source's file")];
  const claimed = new Set(proof.plain.terms);
  for (const wire of proof.bridge.map) claimed.add(wire);
  for (const wire of [...proof.free, ...proof.unused]) claimed.delete(wire);
  try {
    const left = replay(plain, proof).filter((wire) => claimed.has(wire)).length;
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
export function proveFiles({ name, shipped, plain, places }: CircuitFiles, results: readonly string[]): Result {
  const names = readNames(plain.sym);
  // Wire i of a circuit compiled with --O0 has the label i.
  const withheld = [...names]
    .filter(([, signal]) => results.includes(signal.replace(/^main\./, "")))
    .map(([wire]) => wire);
  const proof = prove(shipped, plain.r1cs, withheld);
  const explanation = new Explanation(proof, names, places);
  const nameOf = placeNames();
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

/** Public signals that the committed certificate says are determined by the other inputs. */
export function committedResults(name: CircuitName): string[] {
  const path = certificatePath(name);
  return existsSync(path) ? ((JSON.parse(readFileSync(path, "utf8")) as Partial<Certificate>).results ?? []) : [];
}

/** The files of one of the project's circuits as it is built. @throws CommandError R1CS_MISSING, CIRCOM_FAILED */
export async function circuitFiles(name: CircuitName): Promise<CircuitFiles> {
  const { r1cs } = artifactPaths(name);
  if (!existsSync(r1cs))
    throw new CommandError("R1CS_MISSING", `${relative(root, r1cs)} is missing: run npm run circuits:build`);
  const source = join(circuitsFolder, `${name}.circom`);
  const libraries = [circomLibraryFolder()];
  const plain = await compilePlain(source, join(buildFolder, "certify"), libraries);
  return {
    name,
    shipped: readFileSync(r1cs),
    plain: { r1cs: readFileSync(plain.r1cs), sym: readFileSync(plain.sym, "utf8") },
    places: placesOf(source, libraries),
  };
}

/**
 * Certifies one of the project's circuits as it is built.
 * @param results public signals that must come out determined @throws CommandError R1CS_MISSING, CIRCOM_FAILED
 */
export async function certifyCircuit(name: CircuitName, results = committedResults(name)): Promise<Result> {
  const result = certifyFiles(await circuitFiles(name), results);
  checkInputs(name, result);
  return result;
}

/** Names of an array's elements, "name[1][2]". */
const elements = (name: string, shape: readonly number[]): string[] =>
  shape.reduce(
    (names, size) => names.flatMap((prefix) => Array.from({ length: size }, (_, i) => `${prefix}[${i}]`)),
    [`main.${name}`],
  );

/** The theorem speaks of inputs, so these must be the inputs of circuits.json. */
function checkInputs(name: CircuitName, { proof, explanation }: Result): void {
  const entry = readCircuitTable()[name];
  const expected = [
    ...(entry?.publicSignals ?? []).flatMap(({ name: signal, size }) => elements(signal, size === 1 ? [] : [size])),
    ...(entry?.privateInputs ?? []).flatMap(({ name: input, shape }) => elements(input, shape)),
  ];
  const { outputs, inputs } = proof.plain;
  const actual = Array.from({ length: outputs + inputs }, (_, i) => explanation.name(1 + i));
  if (outputs !== 0 || actual.join() !== expected.join())
    proof.problems.push("the inputs differ from those of circuits.json");
}

/** The sources of a circuit, with file names below the folder of its main or of a library. */
export function placesOf(source: string, libraries: readonly string[]): Places {
  const folders = [dirname(source), ...libraries];
  return new Places(sourceFiles(source, [...libraries]), (path) => {
    const names = folders.map((folder) => relative(folder, path)).filter((name) => !name.startsWith(".."));
    return names.sort((a, b) => a.length - b.length)[0] ?? path;
  });
}

/** Lines that say why a circuit is not certified; empty if it is. */
export function problemLines({ proof, findings, missing }: Result): string[] {
  if (isProven(proof)) return [];
  return [
    ...proof.problems,
    ...Object.entries(missing).map(([place, times]) => `  missing in the shipped file: ${place} (${times} times)`),
    ...(proof.free.length > 0 ? [`${proof.free.length} wires are not shown to be determined; first of all:`] : []),
    ...findings.flatMap(({ signal, place, why, fix }) => [
      `  ${signal}${place === undefined ? "" : ` @ ${place}`}`,
      `    why: ${why}`,
      `    fix: ${fix}`,
    ]),
  ];
}

export const certificatePath = (name: CircuitName): string => join(certificatesFolder, `${name}.json`);
/** The file's text. Lists that fit are on one line, as the formatter writes them. */
export const certificateText = (certificate: Certificate): string =>
  toJson(certificate).replace(/^( *"\w+": )\[\n([^{}]*?)\n *\]/gm, (whole, name: string, list: string) => {
    const line = `${name}[${list.trim().replace(/,\s+/g, ", ")}]`;
    return line.length < MAX_LINE ? line : whole;
  });
