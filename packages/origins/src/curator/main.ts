#!/usr/bin/env node
// The curator's program. It checks Node's version before it loads modules that an older Node does not have.
import { checkNodeVersion } from "@sotto/protocol/node-version";

const problem = checkNodeVersion(process.versions.node);
if (problem === undefined) await import("./program.ts");
else {
  console.error(`sotto: NODE_TOO_OLD: ${problem}`);
  process.exitCode = 1;
}
