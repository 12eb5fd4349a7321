// `pnpm check:deployment [--network NAME | --file PATH] [--rpc ADDRESS]`: compares a chain with a manifest and with
// this tree. Without options it uses the manifest of `pnpm deploy:local`.
import { readFileSync } from "node:fs";
import { CommandError, parseOptions, runCommand } from "@sotto/command/command";
import { parseDeployment } from "@sotto/protocol";
import { JsonRpcProvider } from "ethers";
import { localManifest, manifestOf, parseNetwork } from "./manifest-paths.ts";
import { explain } from "./preflight.ts";

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

/** SOTTO_DEPLOY_RPC_URL from the environment or Hardhat's keystore. @throws CommandError SETTING_INVALID */
async function configuredAddress(): Promise<string> {
  const { default: hre } = await import("hardhat");
  const { deploy } = hre.config.networks;
  if (deploy?.type !== "http") throw new CommandError("SETTING_INVALID", "hardhat.config.ts has no network deploy");
  return deploy.url.getUrl().catch((error: unknown) => {
    throw explain(error);
  });
}

/**
 * The URL from --rpc, of the local chain, or from SOTTO_DEPLOY_RPC_URL.
 * @throws CommandError INVALID_URL, SETTING_INVALID
 */
async function nodeAddress(given: string | undefined, local: boolean): Promise<string> {
  const rpc = given ?? (local ? "http://127.0.0.1:8545" : undefined);
  if (rpc === undefined) return configuredAddress();
  if (!URL.canParse(rpc) || !/^https?:$/.test(new URL(rpc).protocol))
    throw new CommandError("INVALID_URL", "--rpc must be the http or https URL of a JSON-RPC node");
  return rpc;
}

await runCommand(async () => {
  const options = parseOptions(process.argv.slice(2), ["network", "file", "rpc"]);
  const local = options.file === undefined && options.network === undefined;
  const named = () => manifestOf(parseNetwork(options.network));
  const manifest = readManifest(options.file ?? (local ? localManifest : named()));
  const rpc = await nodeAddress(options.rpc, local);
  // Imported only now, because it loads Hardhat, which takes longer than all checks above.
  const { assertSame, compareDeployment, differs } = await import("./check.ts");
  const provider = new JsonRpcProvider(rpc, manifest.chainId, { staticNetwork: true, cacheTimeout: -1 });
  const results = await compareDeployment(manifest, provider)
    .catch((cause: unknown) => {
      throw new CommandError(
        "NODE_UNREACHABLE",
        "the node does not answer, or its answers are invalid; choose another one with --rpc",
        { cause },
      );
    })
    .finally(() => provider.destroy());
  for (const result of results)
    console.log(`${differs(result) ? "DIFFERS" : "ok     "} ${result.what}: ${result.found}`);
  assertSame(results);
  console.log(`pool ${manifest.pool} on chain ${manifest.chainId} matches its manifest and this tree`);
});
