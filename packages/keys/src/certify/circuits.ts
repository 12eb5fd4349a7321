/** Certifies the project's circuits, and compares the results with the committed certificates. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { type Certificate, type CircuitFiles, certifyFiles, type Result } from "@sotto/certify/certify";
import { type Place, Places } from "@sotto/certify/locate";
import { CommandError } from "@sotto/command/command";
import { readCircuitTable } from "../circuits/circuits-json.ts";
import { circom } from "../circuits/compiler.ts";
import { toJson } from "../circuits/files.ts";
import {
  artifactPaths,
  buildFolder,
  type CircuitName,
  circomLibraryFolder,
  circuitsFolder,
  packageVersion,
  root,
} from "../circuits/paths.ts";
import { sourceFiles, sourceHash } from "../circuits/sources.ts";
import { isFresh, writeStamp } from "../circuits/stamp.ts";
import { readSources } from "../source/sources.ts";
import { readTags } from "../source/tags.ts";

/** Columns of a line. */
const MAX_LINE = 120;
export const certificatesFolder = join(circuitsFolder, "certificates");

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
    nameOf: placeNames(),
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

export const certificatePath = (name: CircuitName): string => join(certificatesFolder, `${name}.json`);
/** The file's text. Lists that fit are on one line, as the formatter writes them. */
export const certificateText = (certificate: Certificate): string =>
  toJson(certificate).replace(/^( *"\w+": )\[\n([^{}]*?)\n *\]/gm, (whole, name: string, list: string) => {
    const line = `${name}[${list.trim().replace(/,\s+/g, ", ")}]`;
    return line.length < MAX_LINE ? line : whole;
  });
