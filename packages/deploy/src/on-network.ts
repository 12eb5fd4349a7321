// Deploys a pool on the network that hardhat.config.ts names, and writes its manifest.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { toJson, writeAtomically } from "@sotto/keys/circuits/files";
import { root } from "@sotto/keys/circuits/paths";
import { parseDeployment } from "@sotto/protocol";
import hre from "hardhat";
import { assertSame, compareDeployment } from "./check.ts";
import { deployPool } from "./deploy.ts";
import { sourcesOf } from "./manifest-paths.ts";
import { explain } from "./preflight.ts";
import { prepareVerification } from "./verification.ts";

export interface NetworkDeployment {
  /** Name of the deployment. */
  readonly network: string;
  readonly set: string;
  /** Address of an existing token; undefined deploys a test dollar. */
  readonly token: string | undefined;
  /** In base units. */
  readonly smallestDeposit: bigint | undefined;
  /** In blocks; undefined keeps that of an earlier run. */
  readonly finality: number | undefined;
  /** Path of the manifest. */
  readonly file: string;
}

/** The finality that an earlier run wrote; undefined without a valid manifest. */
function finalityIn(file: string): number | undefined {
  try {
    return parseDeployment(JSON.parse(readFileSync(file, "utf8"))).finality;
  } catch {
    return undefined;
  }
}

/** @throws CommandError like `deployPool` and `compareDeployment`; SETTING_INVALID, DEPLOYMENT_DIFFERS */
export async function deployOnNetwork(options: NetworkDeployment): Promise<void> {
  const { network, set, token, smallestDeposit, finality, file } = options;
  // The node's URL and the key come from Hardhat's keystore or the environment: see hardhat.config.ts.
  const connection = await hre.network.create({ network: "deploy" }).catch((error: unknown) => {
    throw explain(error);
  });
  try {
    // Without a terminal, Ignition's display would repeat every line.
    const shown = { displayUi: process.stdout.isTTY, report: console.log };
    const deployed = await deployPool(connection, { network, set, token, smallestDeposit, ...shown });
    const blocks = finality ?? finalityIn(file);
    const manifest = blocks === undefined ? deployed : { ...deployed, finality: blocks };
    // A resumed journal may come from another person, so its deployment is checked like any other.
    assertSame(
      await compareDeployment(manifest, connection.ethers.provider).catch((error: unknown) => {
        throw explain(error);
      }),
    );
    writeAtomically(file, toJson(manifest));
    await prepareVerification(manifest, sourcesOf(network));
    console.log(`pool ${manifest.pool} of token ${manifest.token} on chain ${manifest.chainId}, keys ${set}`);
    // Manifests of deployments with rehearsal or development keys are not committed.
    const keep = set.startsWith("ceremony/") ? "commit it, and " : "";
    console.log(`manifest ${relative(root, file)}: ${keep}use it for the service, wallets and resource servers`);
    console.log(`for explorers: ${relative(root, sourcesOf(network))}/verification.json`);
    console.log(`Next: npm run check:deployment -- --network ${network} --rpc URL, with the URL of another node`);
  } finally {
    await connection.close();
  }
}
