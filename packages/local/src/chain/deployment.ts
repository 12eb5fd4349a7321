// Deploys the test dollar and a pool for it on a local chain, as on any network, and then deletes Ignition's journal,
// which is useless once the chain stops.
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { CommandError } from "@sotto/command/command";
import { deployPool } from "@sotto/deploy/deploy";
import { journalOf } from "@sotto/deploy/manifest-paths";
import type { DeploymentManifest } from "@sotto/protocol";
import { DEVELOPMENT_SET } from "@sotto/prover";
import hre from "hardhat";

/**
 * @param url JSON-RPC endpoint of a local chain with Hardhat's unlocked accounts
 * @throws CommandError INVALID_URL; the errors of `deployPool`
 */
export async function deployLocal(url: string): Promise<DeploymentManifest> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CommandError("INVALID_URL", `"${url}" is not an http or https URL of a JSON-RPC node`);
  const connection = await hre.network.create({ network: "localhost", override: { url } });
  const network = `local-${randomUUID().slice(0, 13)}`;
  const node = `the server at ${url} (npm run chain starts a local chain)`;
  try {
    const manifest = await deployPool(connection, { network, set: DEVELOPMENT_SET, token: undefined, node });
    return { ...manifest, network: "local" };
  } finally {
    await connection.close();
    rmSync(dirname(journalOf(network)), { recursive: true, force: true });
  }
}
