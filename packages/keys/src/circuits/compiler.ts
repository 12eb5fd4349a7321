import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { CommandError } from "@sotto/command/command";
import { runCircom } from "./circom.ts";
import { artifactPaths, circomLibraryFolder, packageVersion, root } from "./paths.ts";
import { type R1csHeader, readR1csHeader } from "./r1cs-header.ts";
import { sourceHash } from "./sources.ts";
import { isFresh, writeStamp } from "./stamp.ts";

/** --O2 removes every linear constraint; the counts of circuits.json are counts under this flag. */
const FLAGS = ["--O2", "--r1cs", "--wasm", "--sym"];
/** Without simplification: every constraint is one of the source. */
const PLAIN_FLAGS = ["--O0", "--r1cs", "--sym"];

export interface Compilation extends R1csHeader {
  paths: ReturnType<typeof artifactPaths>;
  /** Whether the files are from an earlier run with the same sources, compiler and flags. */
  cached: boolean;
  seconds: number;
}

interface CompileOptions {
  /** Called before a compilation, which can take a minute; not called if the result is cached. */
  onStart?: () => void;
  stop?: AbortSignal;
}

interface Outputs {
  /** Where the files go that circom writes, by their paths in its output folder. */
  readonly files: Readonly<Record<string, string>>;
  /** The record of the last run, in a folder that circom's output folder can be in. */
  readonly stamp: string;
}

/** Runs circom, unless the files are from the same sources, compiler and flags. @returns whether they are */
async function compileChanged(
  source: string,
  libraries: readonly string[],
  flags: readonly string[],
  { files, stamp }: Outputs,
  { onStart, stop }: CompileOptions = {},
): Promise<boolean> {
  const versions = ["circom2", "circomlib"].map((dependency) => `${dependency}@${packageVersion(dependency)}`);
  const inputs = sourceHash(source, [...libraries], [basename(source, ".circom"), ...versions, ...flags]);
  const outputs = Object.values(files);
  if (isFresh(stamp, inputs, outputs)) return true;
  onStart?.();
  mkdirSync(dirname(stamp), { recursive: true });
  const scratch = mkdtempSync(join(dirname(stamp), ".circom-"));
  try {
    await circom(source, [...libraries.flatMap((library) => ["-l", library]), "-o", scratch, ...flags], stop);
    rmSync(stamp, { force: true });
    for (const [made, path] of Object.entries(files)) renameSync(join(scratch, made), path);
    writeStamp(stamp, inputs, outputs);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return false;
}

/**
 * Compiles one circom main into `folder` (NAME.r1cs, NAME.wasm, NAME.sym), unless the files there are from the same
 * sources, compiler and flags.
 * @throws CommandError SOURCE_MISSING, INCLUDE_MISSING; CIRCOM_FAILED with circom's message, which names file and line
 */
export async function compileCircuit(source: string, folder: string, options?: CompileOptions): Promise<Compilation> {
  const start = performance.now();
  if (!existsSync(source)) throw new CommandError("SOURCE_MISSING", `no circuit at ${relative(root, source)}`);
  const name = basename(source, ".circom");
  const paths = artifactPaths(name, folder);
  const files = {
    [`${name}.r1cs`]: paths.r1cs,
    [join(`${name}_js`, `${name}.wasm`)]: paths.wasm,
    [`${name}.sym`]: paths.sym,
  };
  const outputs = { files, stamp: join(folder, ".compiled") };
  const cached = await compileChanged(source, [circomLibraryFolder()], FLAGS, outputs, options);
  return { ...readR1csHeader(paths.r1cs), paths, cached, seconds: (performance.now() - start) / 1000 };
}

/**
 * Compiles a circom main into `folder` without simplification, unless the files there are from the same sources and compiler.
 * @throws CommandError INCLUDE_MISSING, CIRCOM_FAILED
 */
export async function compilePlain(
  source: string,
  folder: string,
  libraries: readonly string[],
): Promise<{ r1cs: string; sym: string }> {
  const name = basename(source, ".circom");
  const [r1cs, sym] = [join(folder, `${name}.r1cs`), join(folder, `${name}.sym`)];
  const outputs = { files: { [`${name}.r1cs`]: r1cs, [`${name}.sym`]: sym }, stamp: join(folder, `${name}.stamp`) };
  await compileChanged(source, libraries, PLAIN_FLAGS, outputs);
  return { r1cs, sym };
}

/** The checkout and the folders above it, by their paths relative to it: circom opens no others. */
function preopenFolders(): Record<string, string> {
  const folders: Record<string, string> = {};
  for (let folder = root; ; folder = dirname(folder)) {
    folders[relative(root, folder) || "."] = folder;
    if (folder === dirname(folder)) return folders;
  }
}

/**
 * Runs circom.
 * @param stop stops the compiler
 * @throws CommandError CIRCOM_FAILED with circom's message
 */
export async function circom(source: string, options: readonly string[], stop?: AbortSignal): Promise<void> {
  // The sandbox resolves paths relative to the checkout, and circom prints them in its messages.
  const local = [source, ...options].map((argument) => (isAbsolute(argument) ? relative(root, argument) : argument));
  const { status, output } = await runCircom({ options: local, preopens: preopenFolders() }, stop);
  if (status !== 0) {
    const reason = output.replace(/\n\s+at .*/g, "") || "the compiler was stopped";
    const message = `${relative(root, source)} does not compile\n\n${reason}`;
    throw new CommandError("CIRCOM_FAILED", message, { inLines: true });
  }
  if (output.includes("warning["))
    console.error(output.slice(output.indexOf("warning["), output.indexOf("template instances")).trim());
}
