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
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { buildDirectory, packageVersion } from "../../../scripts/circuits/paths.ts";
import { finishNames } from "./anonymous.ts";
import type { CompileMessage, Level } from "./circom-worker.ts";
import { type R1cs, readR1cs } from "./r1cs.ts";
import { closure, hashOf, type Sources } from "./sources.ts";
import { Symbols } from "./symbols.ts";
import { generate, type Inputs } from "./witness.ts";

const VERSIONS = ["circom2", "circomlib"].map((name) => `${name}@${packageVersion(name)}`);
const cacheDirectory = join(buildDirectory, "test");

export interface BuildFiles {
  r1cs: string;
  sym: string;
  wasm: string;
}

/** A compiled circuit. Files are read when asked for and forgotten under memory pressure: a run has hundreds. */
export class Build {
  readonly #files: BuildFiles;
  #r1cs: WeakRef<R1cs> | undefined;
  #symbols: WeakRef<Symbols> | undefined;
  #module: WeakRef<WebAssembly.Module> | undefined;

  constructor(files: BuildFiles) {
    this.#files = files;
  }

  get r1cs(): R1cs {
    const r1cs = this.#r1cs?.deref() ?? readR1cs(this.#files.r1cs);
    this.#r1cs = new WeakRef(r1cs);
    return r1cs;
  }

  get symbols(): Symbols {
    const symbols = this.#symbols?.deref() ?? new Symbols(this.#files.sym);
    this.#symbols = new WeakRef(symbols);
    return symbols;
  }

  /** The witness the generator makes for these inputs, one value for each wire. GeneratorRefusal where a `===` fails. */
  async witness(inputs: Inputs): Promise<bigint[]> {
    return generate(await this.#generator(), inputs);
  }

  async #generator(): Promise<WebAssembly.Module> {
    const module = this.#module?.deref() ?? (await WebAssembly.compile(readFileSync(this.#files.wasm)));
    this.#module = new WeakRef(module);
    return module;
  }
}

const inDirectory = (directory: string): Build =>
  new Build({
    r1cs: join(directory, "main.r1cs"),
    sym: join(directory, "main.sym"),
    wasm: join(directory, "main_js", "main.wasm"),
  });

interface Job extends CompileMessage {
  resolve: () => void;
  reject: (error: Error) => void;
}

const queue: Job[] = [];
const started = new Map<string, Promise<Build>>();
/** Threads without a job. Each compiler takes a core and some 300 MB, so there are two at most. */
const idle: Worker[] = [];
let threads = 0;

function pump(): void {
  while (queue.length > 0 && (idle.length > 0 || threads < Math.min(2, availableParallelism()))) {
    if (idle.length === 0) {
      threads++;
      idle.push(new Worker(new URL("./circom-worker.ts", import.meta.url)));
    }
    work(idle.pop() as Worker, queue.shift() as Job);
  }
}

/** Gives one job to a thread. An idle thread does not keep the process alive. */
function work(worker: Worker, { resolve, reject, ...message }: Job): void {
  const onMessage = (failure: string | null) => settle(failure);
  const onError = (error: Error) => settle(String(error));
  const settle = (failure: string | null) => {
    worker.off("message", onMessage).off("error", onError);
    idle.push(worker);
    if (failure === null) resolve();
    else reject(new Error(failure));
    pump();
    if (idle.includes(worker)) worker.unref();
  };
  worker.on("message", onMessage).on("error", onError);
  // After the listeners: adding one refs the thread again, taking the last one away unrefs it.
  worker.ref();
  worker.postMessage(message);
}

/** Whether a generator is wanted with the constraints; it takes most of the time of a compilation. */
export type Want = "generator" | "constraints";

/** Compiles `main` (its text, or the path of one of the sources) once for each content of everything it includes. */
export function compile(sources: Sources, main: string, level: Level, want: Want = "generator"): Promise<Build> {
  const all = new Map(sources);
  const path = main.endsWith(".circom") ? main : "main.circom";
  if (path !== main) all.set(path, main);
  const files = closure(all, path);
  for (const [file, text] of files) if (all.has(file)) files.set(file, finishNames(text));
  const directory = join(cacheDirectory, hashOf(files, [...VERSIONS, level, path]).slice(0, 32));
  const known = started.get(directory + want);
  if (known !== undefined) return known;
  const build = run(files, path, directory, level, want);
  started.set(directory + want, build);
  if (want === "generator") started.set(`${directory}constraints`, build);
  return build;
}

const DAY = 86_400_000;
let forgotten = false;

/** Takes what no test has asked for in a day out of the cache, once a process: a changed source leaves all it was in. */
function forgetUnused(): void {
  if (forgotten || !existsSync(cacheDirectory)) return;
  forgotten = true;
  for (const name of readdirSync(cacheDirectory)) {
    const path = join(cacheDirectory, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > DAY) rmSync(path, { recursive: true, force: true });
  }
}

async function run(files: Sources, path: string, directory: string, level: Level, want: Want): Promise<Build> {
  const generator = "main_js";
  const complete = () => existsSync(want === "generator" ? join(directory, generator) : directory);
  if (complete()) {
    utimesSync(directory, new Date(), new Date());
    return inDirectory(directory);
  }
  forgetUnused();
  const scratch = `${directory}.${process.pid}.${want}`;
  for (const [file, text] of files) {
    const target = join(scratch, "source", file === path ? file.replace(/[^/]+$/, "main.circom") : file);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  try {
    await new Promise<void>((resolve, reject) => {
      const main = join("source", dirname(path), "main.circom");
      queue.push({ directory: scratch, main, level, generator: want === "generator", resolve, reject });
      pump();
    });
    // The sources stay out of the cache: circomlib's tables are 1.5 MB.
    rmSync(join(scratch, "source"), { recursive: true });
    // Another process, or a request for less, may have been here before.
    if (!existsSync(directory)) renameSync(scratch, directory);
    else if (!complete()) renameSync(join(scratch, generator), join(directory, generator));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return inDirectory(directory);
}
