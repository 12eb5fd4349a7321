import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Circuit, compileCircuit } from "@sotto/certify";
import { circomLibraryFolder } from "@sotto/keys/circuits/paths";

/** Compiles a circuit from its text, which can include circomlib. */
export async function compileSource(text: string): Promise<Circuit> {
  const folder = mkdtempSync(join(tmpdir(), "bench-certify-"));
  try {
    const path = join(folder, "main.circom");
    writeFileSync(path, text);
    return await compileCircuit(path, [circomLibraryFolder()]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
