// Anvil with a pool that `pnpm deploy:network` deployed, as operators deploy one.
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { journalOf, sourcesOf } from "@sotto/deploy/manifest-paths";
import type { DeployedNode } from "@sotto/local/chain/node";
import { parseDeployment } from "@sotto/protocol";
import { startAnvil } from "@sotto/test-kit/anvil";
import { command } from "@sotto/test-kit/command";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { accountOf } from "./wallets.ts";

let deployments = 0;

/** @param args options of Anvil's command line, in addition to the usual ones */
export async function startDeployedAnvil(...args: readonly string[]): Promise<DeployedNode> {
  const node = await startAnvil(...args);
  const network = `anvil-${process.pid}-${deployments++}`;
  const folder = temporaryFolder("anvil-deployment");
  try {
    const { status, stdout, stderr } = await command(
      "packages/deploy/src/main.ts",
      ["--network", network, "--to", folder, "--test-token", "yes"],
      undefined,
      { SOTTO_DEPLOY_RPC_URL: node.url, SOTTO_DEPLOYER_KEY: accountOf(0).privateKey },
    );
    if (status !== 0) throw new Error(`the deployment to Anvil failed:\n${stdout}${stderr}`);
    const deployment = parseDeployment(JSON.parse(readFileSync(join(folder, `${network}.json`), "utf8")));
    return { ...node, deployment };
  } catch (error) {
    await node.stop();
    throw error;
  } finally {
    for (const path of [dirname(journalOf(network)), sourcesOf(network)])
      rmSync(path, { recursive: true, force: true });
  }
}
