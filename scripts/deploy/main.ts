// `pnpm deploy:network --network NAME (--token ADDRESS | --test-token yes) [--set ceremony/NAME] [--smallest-deposit N]
// [--finality N] [--to FOLDER]`: deploys a pool and writes its manifest. After an error, run it again to resume.
import { accessSync, constants, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { MAX_FINALITY, parseDeployment } from "@sotto/protocol";
import { DEVELOPMENT_SET } from "@sotto/prover";
import hre from "hardhat";
import { toJson, writeAtomically } from "../circuits/files.ts";
import { root } from "../circuits/paths.ts";
import { CommandError, parseOptions, runCommand } from "../lib/command.ts";
import { assertSame, compareDeployment } from "./check.ts";
import { deployPool, journalOf } from "./deploy.ts";
import { manifestOf, parseNetwork, sourcesOf } from "./manifest-paths.ts";
import { explain } from "./preflight.ts";
import { prepareVerification } from "./verification.ts";

/** Checks, before the deployment, that its manifest can be written and does not replace another one. */
function assertManifestWritable(file: string, network: string): void {
  if (existsSync(file) && !existsSync(journalOf(network)))
    throw new CommandError(
      "MANIFEST_EXISTS",
      `${file} belongs to a deployment that was not made in this checkout; choose another --network`,
    );
  try {
    mkdirSync(dirname(file), { recursive: true });
    accessSync(dirname(file), constants.W_OK);
  } catch (cause) {
    throw new CommandError(
      "FOLDER_NOT_WRITABLE",
      `cannot write the manifest to ${dirname(file)}; choose another folder with --to`,
      { cause },
    );
  }
}

/** The finality that an earlier run wrote; undefined without a valid manifest. */
function finalityIn(file: string): number | undefined {
  try {
    return parseDeployment(JSON.parse(readFileSync(file, "utf8"))).finality;
  } catch {
    return undefined;
  }
}

await runCommand(async () => {
  const options = parseOptions(process.argv.slice(2), [
    "network",
    "token",
    "test-token",
    "set",
    "smallest-deposit",
    "finality",
    "to",
  ]);
  const network = parseNetwork(options.network);
  const { token, set = DEVELOPMENT_SET } = options;
  if ((token === undefined) === (options["test-token"] === undefined))
    throw new CommandError(
      "OPTION_MISSING",
      "name the token with --token ADDRESS, or deploy a worthless one with --test-token yes",
    );
  const smallest = options["smallest-deposit"];
  if (smallest !== undefined && !/^[1-9]\d{0,18}$/.test(smallest))
    throw new CommandError("OPTION_INVALID", `--smallest-deposit is ${smallest}; expected base units, 1 or more`);
  const { finality } = options;
  if (finality !== undefined && !(/^\d{1,4}$/.test(finality) && Number(finality) <= MAX_FINALITY))
    throw new CommandError(
      "OPTION_INVALID",
      `--finality is ${finality}; expected a number of blocks from 0 to ${MAX_FINALITY}`,
    );
  const file = manifestOf(network, options.to === undefined ? undefined : resolve(options.to));
  assertManifestWritable(file, network);
  // The node's URL and the key come from Hardhat's keystore or the environment: see hardhat.config.ts.
  const connection = await hre.network.create({ network: "deploy" }).catch((error: unknown) => {
    throw explain(error);
  });
  try {
    const smallestDeposit = smallest === undefined ? undefined : BigInt(smallest);
    // Without a terminal, Ignition's display would repeat every line.
    const shown = { displayUi: process.stdout.isTTY, report: console.log };
    const deployed = await deployPool(connection, { network, set, token, smallestDeposit, ...shown });
    const blocks = finality === undefined ? finalityIn(file) : Number(finality);
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
});
