// Checks whether packed packages are fit to be published, with publint, arethetypeswrong and checks that both lack.
import { readFileSync } from "node:fs";
import { checkPackage, createPackageFromTarballData, type Problem } from "@arethetypeswrong/core";
import { CommandError } from "@sotto/command/command";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import type { Manifest, PackedPackage } from "./pack.ts";

/**
 * Findings of arethetypeswrong that are accepted. The packages contain only ES modules: Node 22.13 and newer, which
 * `engines` requires, load them with `require` too, so that there is one copy of each class and each store.
 * arethetypeswrong also tries Node 10's resolution, which does not support `exports`.
 */
const isExpected = (problem: Problem): boolean =>
  problem.kind === "CJSResolvesToESM" || ("resolutionKind" in problem && problem.resolutionKind === "node10");

/** @returns the problems of a package, as sentences; empty if it is fit to be published */
export async function problemsOf(one: PackedPackage): Promise<string[]> {
  return [...ownProblems(one), ...(await publintProblems(one)), ...(await typesProblems(one))];
}

/** @param onChecked called after each package @throws CommandError PACKAGE_UNFIT with all problems of all packages */
export async function checkAll(
  packages: readonly PackedPackage[],
  onChecked: (one: PackedPackage) => void = () => {},
): Promise<void> {
  const found: string[] = [];
  for (const one of packages) {
    found.push(...(await problemsOf(one)).map((problem) => `${one.name}: ${problem}`));
    onChecked(one);
  }
  if (found.length > 0)
    throw new CommandError("PACKAGE_UNFIT", `packages cannot be published as they are:\n${found.join("\n")}`, {
      inLines: true,
    });
}

/** @returns why npm would refuse packages that are otherwise fit to be published; undefined if it would not */
export function unpublishable(manifests: readonly Manifest[]): string | undefined {
  if (manifests.every(({ repository }) => repository !== undefined)) return undefined;
  return "package.json has no repository, which npm compares with the provenance";
}

async function publintProblems({ tarball, manifest }: PackedPackage): Promise<string[]> {
  const bytes = readFileSync(tarball);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const { messages } = await publint({ pack: { tarball: data }, strict: true });
  return messages.map((message) => `publint: ${formatMessage(message, { ...manifest }, { color: false })}`);
}

async function typesProblems({ tarball, manifest }: PackedPackage): Promise<string[]> {
  if (manifest.exports === undefined) return [];
  const result = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
  if (!result.types) return ["arethetypeswrong: it has no types"];
  const problems = result.problems.filter((problem) => !isExpected(problem));
  return problems.map((problem) => `arethetypeswrong: ${JSON.stringify(problem)}`);
}

function ownProblems({ name, manifest, files }: PackedPackage): string[] {
  const has = new Set(files);
  const needed = ["package.json", "README.md", "LICENSE"];
  const missing = needed.filter((path) => !has.has(path)).map((path) => `${path} is missing`);
  const strange = files
    .filter((path) => !needed.includes(path) && !/^(?:dist|src)\//.test(path) && !path.startsWith(EXTRAS[name] ?? "/"))
    .map((path) => `${path} does not belong in the package`);
  const sourceless = files
    .filter((path) => path.startsWith("dist/") && !has.has(sourceOf(path)))
    .map((path) => `${path} has no source in the package, so maps and "go to definition" lead nowhere`);
  const fields = ["version", "description", "license", "author", "keywords", "engines", "sideEffects", "publishConfig"];
  const lacking = fields.filter((field) => !(field in manifest)).map((field) => `package.json has no ${field}`);
  const local = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })
    .filter(([, range]) => /^(?:workspace|file|link):/.test(range))
    .map(([other, range]) => `depends on ${other} by "${range}", which exists only in the checkout`);
  const development = manifest.devDependencies === undefined ? [] : [`${name} lists devDependencies`];
  return [...missing, ...strange, ...sourceless, ...lacking, ...local, ...development];
}

/** What a package may contain besides dist and src: a folder, or a picture of its README. */
const EXTRAS: Readonly<Record<string, string>> = { "create-sotto": "templates/", "@sotto/certify": "refuted.svg" };

const sourceOf = (path: string): string => path.replace(/^dist/, "src").replace(/(?:\.d\.ts|\.js)(?:\.map)?$/, ".ts");
