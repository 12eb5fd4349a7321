import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Circuit, compileCircuit } from "@sotto/certify";
import { circomLibraryFolder } from "@sotto/keys/circuits/paths";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";

/** Compiles a circuit from its text, which can include circomlib. */
export function compileSource(text: string): Promise<Circuit> {
  const path = join(temporaryFolder("bench-certify"), "main.circom");
  writeFileSync(path, text);
  return compileCircuit(path, [circomLibraryFolder()]);
}
