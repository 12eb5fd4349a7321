// `pnpm deploy:local [--url http://127.0.0.1:8545]`: deploys the contracts on the chain of `pnpm chain`.
import { relative } from "node:path";
import { parseOptions, runCommand } from "@sotto/command/command";
import { localManifest } from "@sotto/deploy/manifest-paths";
import { toJson, writeAtomically } from "@sotto/keys/circuits/files";
import { deployLocal } from "./deployment.ts";

await runCommand(async () => {
  const { url = "http://127.0.0.1:8545" } = parseOptions(process.argv.slice(2), ["url"]);
  const manifest = await deployLocal(url);
  writeAtomically(localManifest, toJson(manifest));
  console.log(`pool ${manifest.pool} of token ${manifest.token} on chain ${manifest.chainId}, keys ${manifest.set}`);
  console.log(`manifest ${relative(process.cwd(), localManifest)}; valid until the chain stops`);
  console.log("Next: npm run service");
});
