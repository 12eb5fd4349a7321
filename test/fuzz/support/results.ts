import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generatedFolder } from "./fixture.ts";
import type { FuzzResult } from "./run.ts";

/** Writes what was run for `npm run audit:pack`. */
export function writeResults(properties: readonly FuzzResult[], seeded: readonly FuzzResult[]): void {
  mkdirSync(generatedFolder, { recursive: true });
  writeFileSync(join(generatedFolder, "results.json"), `${JSON.stringify({ properties, seeded }, undefined, 1)}\n`);
}
