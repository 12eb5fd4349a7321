// `pnpm deploy:local [--url http://127.0.0.1:8545]`: puts the contracts on the chain of `pnpm chain`.
import { relative } from "node:path";
import { parseOptions, runCommand } from "../lib/command.ts";
import { deployLocal, deploymentFile, saveDeployment } from "./deployment.ts";

await runCommand(async () => {
  const { url = "http://127.0.0.1:8545" } = parseOptions(process.argv.slice(2), ["url"]);
  const deployment = await deployLocal(url);
  saveDeployment(deployment);
  for (const [name, value] of Object.entries(deployment)) console.log(`${name.padEnd(16)} ${value}`);
  console.log(`written to ${relative(process.cwd(), deploymentFile)}; it lasts as long as the chain does`);
});
