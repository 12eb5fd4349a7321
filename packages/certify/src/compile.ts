// Compiles circuits with the circom of the npm package circom2, which is WebAssembly in a sandbox. sotto's own builds have another
// runner, with threads that are reused and stopped, and a cache.
import fs, { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { CertifyError } from "./errors.ts";
import { sourceFiles } from "./includes.ts";
import { Places } from "./locate.ts";
import type { Circuit } from "./outcome.ts";

/** circom's simplification of the file that the theorem is about. circom's own default since 2.2 is 1. */
export type Simplification = 0 | 1 | 2;

interface Runner {
  wasi: { getImports(module: WebAssembly.Module): WebAssembly.Imports; start(instance: WebAssembly.Instance): void };
}
interface Circom2 {
  CircomRunner: new (options: object) => Runner;
  bindings: object;
}

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");
/** An error quotes at most so many characters of circom's message. */
const MAX_MESSAGE = 2000;

class Exit extends Error {}

let loading: Promise<WebAssembly.Module> | undefined;

/** circom, which is compiled once in a process. */
function loadCompiler(): Promise<WebAssembly.Module> {
  loading ??= WebAssembly.compile(readFileSync(createRequire(import.meta.url).resolve("circom2/circom.wasm")));
  return loading;
}

/** The folder that contains all of these paths: circom's sandbox does not find files above the folder it starts in. */
function commonFolder(paths: readonly string[]): string {
  let folder = dirname(paths[0] as string);
  const isBelow = (path: string) => path === folder || !relative(folder, path).startsWith("..");
  while (!paths.every(isBelow)) folder = dirname(folder);
  return folder;
}

async function runCircom(compiler: WebAssembly.Module, folder: string, options: readonly string[]): Promise<void> {
  const { CircomRunner, bindings } = createRequire(import.meta.url)("circom2") as Circom2;
  let [output, failed] = ["", false];
  const writeSync = (descriptor: number, data: Uint8Array, ...rest: [number?, number?, number?]) => {
    if (descriptor > 2) return fs.writeSync(descriptor, data, ...rest);
    const [offset = 0, length = data.length - offset] = rest;
    output += Buffer.from(data.subarray(offset, offset + length)).toString();
    return length;
  };
  const exit = (code: number) => {
    failed = code !== 0;
    throw new Exit();
  };
  const args = options.map((option) => (isAbsolute(option) ? relative(folder, option) || "." : option));
  const env = {};
  const { wasi } = new CircomRunner({
    args,
    env,
    preopens: { ".": folder },
    bindings: { ...bindings, fs: { ...fs, writeSync }, exit, kill: exit },
  });
  try {
    wasi.start(await WebAssembly.instantiate(compiler, wasi.getImports(compiler)));
  } catch (error) {
    if (!(error instanceof Exit)) {
      failed = true;
      output += `\n${String(error)}`;
    }
  }
  const prefix = relative(folder, process.cwd());
  const message = (prefix === "" ? output : output.replaceAll(`"${prefix}/`, '"'))
    .replace(COLOUR, "")
    .replace(/\n\s+at .*/g, "")
    .trim();
  if (failed)
    throw new CertifyError(`the circuit does not compile\n\n${message.slice(0, MAX_MESSAGE)}`, "COMPILE_FAILED");
}

/**
 * Compiles a circuit as it is shipped and without simplification, in a private temporary folder that is removed in the end.
 * @param libraries folders in which circom looks for includes that are not beside the including file
 * @param simplification the level of the file that the theorem is about
 * @param within where the temporary folder is made
 * @throws CertifyError INPUT_INVALID, COMPILE_FAILED with circom's message
 */
export async function compileCircuit(
  path: string,
  libraries: readonly string[] = [],
  simplification: Simplification = 1,
  within = tmpdir(),
): Promise<Circuit> {
  const source = resolve(path);
  const folders = libraries.map((library) => resolve(library));
  const files = sourceFiles(source, folders);
  const compiler = await loadCompiler();
  const scratch = mkdtempSync(join(within, "certify-"));
  try {
    const name = basename(source, ".circom");
    const build = async (level: Simplification) => {
      const folder = join(scratch, `${level}`);
      fs.mkdirSync(folder, { recursive: true });
      const options = [source, ...folders.flatMap((library) => ["-l", library])];
      await runCircom(compiler, commonFolder([source, ...folders, ...files, folder]), [
        ...options,
        "-o",
        folder,
        `--O${level}`,
        "--r1cs",
        "--sym",
      ]);
      const read = (extension: string) => readFileSync(join(folder, `${name}.${extension}`));
      return { r1cs: read("r1cs"), sym: read("sym").toString() };
    };
    const plain = await build(0);
    const { r1cs } = simplification === 0 ? plain : await build(simplification);
    const shorten = (file: string) => relative(process.cwd(), file);
    return { r1cs, plain, places: new Places(files, shorten) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
