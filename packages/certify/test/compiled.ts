import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { compileCircuit, type Simplification } from "../src/compile.ts";

/** The folder in which circom finds "circomlib/circuits/...". */
export const libraries = [dirname(dirname(createRequire(import.meta.url).resolve("circomlib/package.json")))];

/** Writes a circuit to a folder of its own. @returns its path */
export function writeCircuit(text: string): string {
  const path = join(temporaryFolder("certify-test"), "main.circom");
  writeFileSync(path, text);
  return path;
}

/** Compiles a circuit from its text, by default without simplification. */
export const compile = (text: string, simplification: Simplification = 0) =>
  compileCircuit(writeCircuit(text), libraries, simplification);
