// A thread of circom.ts. @sotto/certify has a runner of its own, which depends on nothing of sotto: it has no threads to reuse or stop.
import fs from "node:fs";
import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { CircomResult, CircomRun } from "./circom.ts";

interface Runner {
  wasi: { getImports(module: WebAssembly.Module): WebAssembly.Imports; start(instance: WebAssembly.Instance): void };
}
interface Circom2 {
  CircomRunner: new (options: object) => Runner;
  bindings: object;
}

const { CircomRunner, bindings } = createRequire(import.meta.url)("circom2") as Circom2;
const compiler = workerData as WebAssembly.Module;
const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

class Exit extends Error {}

async function run({ options, preopens }: CircomRun): Promise<CircomResult> {
  let output = "";
  let status = 0;
  let instance: WebAssembly.Instance | undefined;
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
  const { wasi } = new CircomRunner({
    args: options,
    env: {},
    preopens,
    bindings: { ...bindings, fs: { ...fs, writeSync }, exit, kill: exit },
  });
  try {
    instance = await WebAssembly.instantiate(compiler, wasi.getImports(compiler));
    wasi.start(instance);
  } catch (error) {
    if (!(error instanceof Exit)) {
      status = 1;
      output += `\n${String(error)}`;
    }
  }
  const memory = (instance?.exports["memory"] as WebAssembly.Memory | undefined)?.buffer.byteLength ?? 0;
  return { status, output: output.replace(COLOUR, "").trim(), memory };
}

parentPort?.on("message", async (message: CircomRun) => parentPort?.postMessage(await run(message)));
