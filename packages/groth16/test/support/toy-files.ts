import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CircuitFiles, VerificationKey } from "../../src/index.ts";

/** The toy's files in its build folder. Each call reads bytes of its own. */
export function toyFiles(build: string, parse: (source: unknown) => VerificationKey): CircuitFiles {
  const file = (name: string): string => join(build, "toy", name);
  return {
    name: "toy",
    wasm: () => readFile(file("toy.wasm")),
    zkey: () => readFile(file("toy.zkey")),
    verificationKey: async () => parse(await readFile(file("toy.vkey.json"), "utf8")),
  };
}

/** Lines of another process's program, which has `parseVerificationKey`: the toy's `files`, and its verification key as `key`. */
export const toyFilesCode = (build: string): string => `
      const { toyFiles } = await import(${JSON.stringify(import.meta.url)});
      const files = toyFiles(${JSON.stringify(build)}, parseVerificationKey);
      const key = await files.verificationKey();`;
