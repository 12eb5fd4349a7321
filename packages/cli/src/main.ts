#!/usr/bin/env node
// Starts the program `sotto` after checking that Node is new enough to load it.
import { checkNodeVersion } from "@sotto/protocol/node-version";

const problem = checkNodeVersion(process.versions.node);
if (problem === undefined) await import("./program.ts");
else {
  console.error(`sotto: NODE_TOO_OLD: ${problem}`);
  process.exitCode = 1;
}
