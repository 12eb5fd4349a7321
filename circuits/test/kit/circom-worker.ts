// A thread that compiles circom repeatedly and loads the compiler's WASM once.
import fs from "node:fs";
import { createRequire } from "node:module";
import { parentPort } from "node:worker_threads";

/**
 * "full" is --O2, as shipped. "plain" is --O0: it keeps every constraint and every signal of the source, and wire i is
 * label i, so a witness of one circuit can be read in another.
 */
export type Level = "full" | "plain";

export interface CompileMessage {
  /** Contains source/; receives main.r1cs, main.sym and, if requested, main_js/main.wasm. */
  folder: string;
  /** The main, relative to `folder`. */
  main: string;
  level: Level;
  generator: boolean;
}

interface Runner {
  wasi: { getImports(module: WebAssembly.Module): WebAssembly.Imports; start(instance: WebAssembly.Instance): void };
}
interface Circom2 {
  CircomRunner: new (options: object) => Runner;
  bindings: object;
}

const require = createRequire(import.meta.url);
const { CircomRunner, bindings } = require("circom2") as Circom2;
const compiler = WebAssembly.compile(fs.readFileSync(require.resolve("circom2/circom.wasm")));
const LEVELS: Record<Level, string> = { full: "--O2", plain: "--O0" };
const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

class Exit extends Error {}

/** Null if the circuit compiled, otherwise the compiler's output. */
async function run({ folder, main, level, generator }: CompileMessage): Promise<string | null> {
  let output = "";
  let status = 0;
  const writeSync = (descriptor: number, data: Uint8Array, ...rest: [number?, number?, number?]) => {
    if (descriptor > 2) return fs.writeSync(descriptor, data, ...rest);
    const [offset = 0, length = data.length - offset] = rest;
    output += Buffer.from(data.subarray(offset, offset + length)).toString();
    return length;
  };
  const exit = (code: number) => {
    status = code;
    throw new Exit();
  };
  const flags = [LEVELS[level], "--r1cs", "--sym", ...(generator ? ["--wasm"] : [])];
  const { wasi } = new CircomRunner({
    args: [`/build/${main}`, ...flags, "-l", "/build/source", "-o", "/build"],
    env: {},
    preopens: { "/build": folder },
    bindings: { ...bindings, fs: { ...fs, writeSync }, exit, kill: exit },
  });
  const module = await compiler;
  try {
    wasi.start(await WebAssembly.instantiate(module, wasi.getImports(module)));
  } catch (error) {
    if (!(error instanceof Exit)) return `${output.replace(COLOUR, "")}\n${String(error)}`;
  }
  return status === 0 && fs.existsSync(`${folder}/main.r1cs`) ? null : output.replace(COLOUR, "");
}

parentPort?.on("message", async (message: CompileMessage) => parentPort?.postMessage(await run(message)));
