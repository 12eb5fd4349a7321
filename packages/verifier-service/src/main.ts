// `npm run service`, and what the container runs. Loads nothing that an old Node lacks before it has checked Node's
// version.
import { checkNodeVersion } from "@sotto/protocol/node-version";

const problem = checkNodeVersion(process.versions.node);
if (problem === undefined) await import("./program.ts");
else {
  console.error(`sotto: NODE_TOO_OLD: ${problem}`);
  process.exitCode = 1;
}
