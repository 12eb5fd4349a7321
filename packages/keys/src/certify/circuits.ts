/** Certifies the project's circuits, and compares the results with the committed certificates. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Place, Places } from "@sotto/certify";
import { type Certificate, type CircuitFiles, certifyFiles, problemLines, type Result } from "@sotto/certify/internal";
import { CommandError } from "@sotto/command/command";
import { readCircuitTable } from "../circuits/circuits-json.ts";
import { compilePlain } from "../circuits/compiler.ts";
import { toJson } from "../circuits/files.ts";
import {
  artifactPaths,
  buildFolder,
  type CircuitName,
  circomLibraryFolder,
  circuitsFolder,
  root,
} from "../circuits/paths.ts";
import { sourceFiles } from "../circuits/sources.ts";
import { readSources } from "../source/sources.ts";
import { readTags } from "../source/tags.ts";

/** Columns of a line. */
const MAX_LINE = 120;
const certificatesFolder = join(circuitsFolder, "certificates");

/** Names a constraint by its group's tag in our circuits, and by file and statement elsewhere. */
function placeNames(): (place: Place) => string {
  const tags = readTags(readSources());
  return ({ file, line, text }) => {
    const before = tags.filter((tag) => tag.file === file && tag.line <= line);
    const tag = before.at(-1);
    return tag?.id ?? `${file}: ${text}`;
  };
}

/** The committed certificate of a circuit; without fields if there is none. */
export function committedCertificate(name: CircuitName): Partial<Certificate> {
  const path = certificatePath(name);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Partial<Certificate>) : {};
}

/** Public signals that the committed certificate says are determined by the other inputs. */
export const committedResults = (name: CircuitName): string[] => committedCertificate(name).results ?? [];

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
    nameOf: placeNames(),
  };
}

/**
 * Certifies one of the project's circuits as it is built.
 * @param results public signals that must come out determined
 * @throws CommandError R1CS_MISSING, CIRCOM_FAILED
 */
export async function certifyCircuit(name: CircuitName, results = committedResults(name)): Promise<Result> {
  const result = certifyFiles(await circuitFiles(name), results);
  const problem = checkInputs(name, result);
  if (problem !== undefined) result.proof.problems.push(problem);
  return result;
}

/** @throws CommandError UNDERCONSTRAINED with each signal that may be free */
export function assertCertified(result: Result): void {
  const problems = problemLines(result);
  if (problems.length === 0) return;
  const lines = [`${result.certificate.circuit} is not certified`, ...problems];
  throw new CommandError("UNDERCONSTRAINED", lines.join("\n"), { inLines: true });
}

/** Names of an array's elements, "name[1][2]". */
const elements = (name: string, shape: readonly number[]): string[] =>
  shape.reduce(
    (names, size) => names.flatMap((prefix) => Array.from({ length: size }, (_, i) => `${prefix}[${i}]`)),
    [`main.${name}`],
  );

/** The theorem speaks of inputs, so these must be the inputs of circuits.json. */
function checkInputs(name: CircuitName, { proof, explanation }: Result): string | undefined {
  const entry = readCircuitTable()[name];
  const expected = [
    ...(entry?.publicSignals ?? []).flatMap(({ name: signal, size }) => elements(signal, size === 1 ? [] : [size])),
    ...(entry?.privateInputs ?? []).flatMap(({ name: input, shape }) => elements(input, shape)),
  ];
  const { outputs, inputs } = proof.plain;
  const actual = Array.from({ length: outputs + inputs }, (_, i) => explanation.name(1 + i));
  if (outputs === 0 && actual.join() === expected.join()) return undefined;
  return "the inputs differ from those of circuits.json";
}

/** The sources of a circuit, with file names below the folder of its main or of a library. */
function placesOf(source: string, libraries: readonly string[]): Places {
  const folders = [dirname(source), ...libraries];
  return new Places(sourceFiles(source, [...libraries]), (path) => {
    const names = folders.map((folder) => relative(folder, path)).filter((name) => !name.startsWith(".."));
    return names.sort((a, b) => a.length - b.length)[0] ?? path;
  });
}

export const certificatePath = (name: CircuitName): string => join(certificatesFolder, `${name}.json`);
/** The file's text. Lists that fit are on one line, as the formatter writes them. */
export const certificateText = (certificate: Certificate): string =>
  toJson(certificate).replace(/^( *"\w+": )\[\n([^{}]*?)\n *\]/gm, (whole, name: string, list: string) => {
    const line = `${name}[${list.trim().replace(/,\s+/g, ", ")}]`;
    return line.length < MAX_LINE ? line : whole;
  });
