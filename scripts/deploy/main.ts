// `pnpm deploy:network --network NAME (--token ADDRESS | --test-token yes) [--set ceremony/NAME] [--smallest-deposit N]
// [--finality N] [--to FOLDER]`: puts a pool on a network and writes its manifest. Run again after a fault, it resumes.
import { accessSync, constants, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { MAX_FINALITY, parseDeployment } from "@sotto/protocol";
import { DEVELOPMENT_SET } from "@sotto/prover";
import hre from "hardhat";
import { toJson, writeAtomically } from "../circuits/files.ts";
import { root } from "../circuits/paths.ts";
import { CommandError, parseOptions, runCommand } from "../lib/command.ts";
import { compareDeployment, expectSame } from "./check.ts";
import { deployPool, journalOf } from "./deploy.ts";
import { expectNetwork, manifestOf, sourcesOf } from "./places.ts";
import { explain } from "./preflight.ts";
import { prepareVerification } from "./verification.ts";

/** A manifest is what a deployment is found by: it is written at the end, and none is lost. */
function expectPlace(file: string, network: string): void {
  if (existsSync(file) && !existsSync(journalOf(network)))
    throw new CommandError(
      "MANIFEST_EXISTS",
      `${file} is of a deployment that was not made in this checkout; choose another --network`,
    );
  try {
    mkdirSync(dirname(file), { recursive: true });
    accessSync(dirname(file), constants.W_OK);
  } catch (cause) {
    throw new CommandError("FOLDER_NOT_WRITABLE", `the manifest cannot be written to ${dirname(file)}`, { cause });
  }
}

/** What an earlier run wrote; undefined without a whole manifest. */
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
  const network = expectNetwork(options.network);
  const { token, set = DEVELOPMENT_SET } = options;
  if ((token === undefined) === (options["test-token"] === undefined))
    throw new CommandError("OPTION_MISSING", "either --token ADDRESS or --test-token yes (a worthless one) is needed");
  const smallest = options["smallest-deposit"];
  if (smallest !== undefined && !/^[1-9]\d{0,18}$/.test(smallest))
    throw new CommandError("OPTION_INVALID", "--smallest-deposit is a number of base units, 1 or more");
  const { finality } = options;
  if (finality !== undefined && !(/^\d{1,4}$/.test(finality) && Number(finality) <= MAX_FINALITY))
    throw new CommandError("OPTION_INVALID", `--finality is a number of blocks from 0 to ${MAX_FINALITY}`);
  const file = manifestOf(network, options.to === undefined ? undefined : resolve(options.to));
  expectPlace(file, network);
  // Its address and key come from Hardhat's keystore or the environment: hardhat.config.ts.
  const connection = await hre.network.create({ network: "deploy" }).catch((error: unknown) => {
    throw explain(error);
  });
  try {
    const amounts = smallest === undefined ? {} : { smallestDeposit: BigInt(smallest) };
    // Without a terminal each line of it would come again and again.
    const shown = { displayUi: process.stdout.isTTY, tell: console.log };
    const deployed = await deployPool(connection, { network, set, token, ...shown, ...amounts });
    const blocks = finality === undefined ? finalityIn(file) : Number(finality);
    const manifest = blocks === undefined ? deployed : { ...deployed, finality: blocks };
    // A journal that was gone on with may be somebody else's: what it says is looked at as everybody else will.
    expectSame(
      await compareDeployment(manifest, connection.ethers.provider).catch((error: unknown) => {
        throw explain(error);
      }),
    );
    writeAtomically(file, toJson(manifest));
    await prepareVerification(manifest, sourcesOf(network));
    console.log(`pool ${manifest.pool} of token ${manifest.token} on chain ${manifest.chainId}, keys ${set}`);
    // Of a rehearsal or the development keys there is nothing to keep.
    const keep = set.startsWith("ceremony/") ? "commit it, and " : "";
    console.log(`manifest ${relative(root, file)}: ${keep}give it to service, wallets and shops`);
    console.log(`for explorers: ${relative(root, sourcesOf(network))}/verification.json`);
    console.log(`Next: npm run check:deployment -- --network ${network} --rpc of another node`);
  } finally {
    await connection.close();
  }
});
