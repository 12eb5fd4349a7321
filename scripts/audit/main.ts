// `npm run audit:pack`: writes .audit/, what an auditor asks for: scope, properties, threat model, assumptions, known
// issues, certificate, and the results of tests, fuzzing, mutation and coverage, each with the command that reproduces it.
import { runCommand } from "@sotto/command/command";
import { writePack } from "./pack.ts";

await runCommand(async () => {
  const { folder, missing } = writePack();
  console.log(`audit pack: ${folder}`);
  for (const { what, command } of missing) console.log(`  not included: ${what}; run ${command}`);
});
