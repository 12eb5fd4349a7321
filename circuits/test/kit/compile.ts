import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type R1cs, readR1cs } from "@sotto/certify/check/r1cs";
import { runCircom } from "@sotto/keys/circuits/circom";
import { buildFolder, packageVersion } from "@sotto/keys/circuits/paths";
import { finishNames } from "@sotto/keys/source/anonymous";
import { closure, hashOf, locate, type Sources } from "@sotto/keys/source/sources";
import { Symbols } from "./symbols.ts";
import { generate, type Inputs } from "./witness.ts";

const VERSIONS = ["circom2", "circomlib"].map((name) => `${name}@${packageVersion(name)}`);
const cacheFolder = join(buildFolder, "test");

/**
 * "full" is --O2, as shipped. "plain" is --O0: it keeps every constraint and every signal of the source, and wire i is
 * label i, so a witness of one circuit can be read in another.
 */
export type Level = "full" | "plain";
const FLAGS: Record<Level, string> = { full: "--O2", plain: "--O0" };

export interface BuildFiles {
  r1cs: string;
  sym: string;
  wasm: string;
}

/** The files that were read last. Tests use a few circuits at a time, and reading a file again takes a second. */
const recent: object[] = [];
const RECENT = 12;

function keep<T extends object>(file: T): WeakRef<T> {
  if (recent.at(-1) !== file) {
    const index = recent.indexOf(file);
    if (index >= 0) recent.splice(index, 1);
    recent.push(file);
    if (recent.length > RECENT) recent.shift();
  }
  return new WeakRef(file);
}

/**
 * A compiled circuit. Files are read on demand. Those not used for a while are released, because a run has hundreds of
 * them.
 */
export class Build {
  readonly files: BuildFiles;
  #r1cs: WeakRef<R1cs> | undefined;
  #symbols: WeakRef<Symbols> | undefined;
  #module: WeakRef<WebAssembly.Module> | undefined;

  constructor(files: BuildFiles) {
    this.files = files;
  }

  get r1cs(): R1cs {
    const r1cs = this.#r1cs?.deref() ?? readR1cs(this.files.r1cs);
    this.#r1cs = keep(r1cs);
    return r1cs;
  }

  get symbols(): Symbols {
    const symbols = this.#symbols?.deref() ?? new Symbols(this.files.sym);
    this.#symbols = keep(symbols);
    return symbols;
  }

  /** The generator's witness for these inputs, one value for each wire. Throws GeneratorRefusal if a `===` fails. */
  async witness(inputs: Inputs): Promise<bigint[]> {
    return generate(await this.#generator(), inputs);
  }

  async #generator(): Promise<WebAssembly.Module> {
    const module = this.#module?.deref() ?? (await WebAssembly.compile(readFileSync(this.files.wasm)));
    this.#module = new WeakRef(module);
    return module;
  }
}

const inFolder = (folder: string): Build =>
  new Build({
    r1cs: join(folder, "main.r1cs"),
    sym: join(folder, "main.sym"),
    wasm: join(folder, "main_js", "main.wasm"),
  });

const started = new Map<string, Promise<Build>>();
/** Whether to compile the generator too, which takes most of the time. */
export type Want = "generator" | "constraints";

/** Compiles `main` (a text or a path), once for each content of everything it includes. */
export function compile(sources: Sources, main: string, level: Level, want: Want = "generator"): Promise<Build> {
  const { all, path } = locate(sources, main);
  const files = closure(all, path);
  for (const [file, text] of files) if (all.has(file)) files.set(file, finishNames(text));
  const folder = join(cacheFolder, hashOf(files, [...VERSIONS, level, path]).slice(0, 32));
  const known = started.get(folder + want);
  if (known !== undefined) return known;
  const build = run(files, path, folder, level, want);
  started.set(folder + want, build);
  if (want === "generator") started.set(`${folder}constraints`, build);
  return build;
}

const DAY = 86_400_000;
let forgotten = false;

/** Removes cache entries that no test has used for a day, once per process. Changed sources leave stale entries. */
function forgetUnused(): void {
  if (forgotten || !existsSync(cacheFolder)) return;
  forgotten = true;
  for (const name of readdirSync(cacheFolder)) {
    const path = join(cacheFolder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > DAY) rmSync(path, { recursive: true, force: true });
  }
}

async function run(files: Sources, path: string, folder: string, level: Level, want: Want): Promise<Build> {
  const generator = "main_js";
  const complete = () => existsSync(want === "generator" ? join(folder, generator) : folder);
  if (complete()) {
    utimesSync(folder, new Date(), new Date());
    return inFolder(folder);
  }
  forgetUnused();
  const scratch = `${folder}.${process.pid}.${want}`;
  for (const [file, text] of files) {
    const target = join(scratch, "source", file === path ? file.replace(/[^/]+$/, "main.circom") : file);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  try {
    const main = join("/build/source", dirname(path), "main.circom");
    const outputs = ["--r1cs", "--sym", ...(want === "generator" ? ["--wasm"] : [])];
    const options = [main, FLAGS[level], ...outputs, "-l", "/build/source", "-o", "/build"];
    const { status, output } = await runCircom({ options, preopens: { "/build": scratch } });
    if (status !== 0 || !existsSync(join(scratch, "main.r1cs"))) throw new Error(output);
    // The sources stay out of the cache: Poseidon's tables are 0.5 MB.
    rmSync(join(scratch, "source"), { recursive: true });
    // Another process, or a request without the generator, may have written this entry already.
    if (!existsSync(folder)) renameSync(scratch, folder);
    else if (!complete()) renameSync(join(scratch, generator), join(folder, generator));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return inFolder(folder);
}
