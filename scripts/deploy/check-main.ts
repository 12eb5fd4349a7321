// `pnpm check:deployment (--network NAME | --file PATH) [--rpc ADDRESS]`: whether the chain is what a manifest says, and
// its contracts this tree's.
import { readFileSync } from "node:fs";
import { parseDeployment } from "@sotto/protocol";
import { JsonRpcProvider } from "ethers";
import { CommandError, parseOptions, runCommand } from "../lib/command.ts";
import { compareDeployment, differs } from "./check.ts";
import { expectNetwork, manifestOf } from "./places.ts";

function readManifest(path: string) {
  try {
    return parseDeployment(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    const { code } = cause as { code?: string };
    if (code === "DEPLOYMENT_INVALID") throw cause;
    const why = code === "ENOENT" ? "does not exist" : "is not JSON";
    throw new CommandError("MANIFEST_MISSING", `${path} ${why}`, { cause });
  }
}

await runCommand(async () => {
  const options = parseOptions(process.argv.slice(2), ["network", "file", "rpc"]);
  const manifest = readManifest(options.file ?? manifestOf(expectNetwork(options.network)));
  const rpc = options.rpc ?? process.env["SOTTO_DEPLOY_RPC_URL"] ?? "http://127.0.0.1:8545";
  const provider = new JsonRpcProvider(rpc, manifest.chainId, { staticNetwork: true, cacheTimeout: -1 });
  const results = await compareDeployment(manifest, provider)
    .catch((cause: unknown) => {
      throw new CommandError("NODE_UNREACHABLE", "the node does not answer; --rpc names another", { cause });
    })
    .finally(() => provider.destroy());
  for (const result of results)
    console.log(`${differs(result) ? "DIFFERS" : "ok     "} ${result.what}: ${result.found}`);
  const wrong = results.filter(differs);
  if (wrong.length === 0) return;
  const lines = wrong.map(({ what, expected, found }) => `${what}: expected ${expected}, found ${found}`);
  throw new CommandError("DEPLOYMENT_DIFFERS", lines.join("; "));
});
