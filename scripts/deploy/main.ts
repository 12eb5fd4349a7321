// `pnpm deploy:network --network NAME (--token ADDRESS | --test-token yes) [--set ceremony/NAME] [--smallest-deposit N]
// [--to FOLDER]`: puts a pool on a network and writes its manifest. Run again after a fault, it goes on where it was.
import { relative, resolve } from "node:path";
import hre from "hardhat";
import { toJson, writeAtomically } from "../circuits/files.ts";
import { root } from "../circuits/paths.ts";
import { CommandError, parseOptions, runCommand } from "../lib/command.ts";
import { deployPool } from "./deploy.ts";
import { expectNetwork, manifestOf, sourcesOf } from "./places.ts";
import { prepareVerification } from "./verification.ts";

await runCommand(async () => {
  const options = parseOptions(process.argv.slice(2), [
    "network",
    "token",
    "test-token",
    "set",
    "smallest-deposit",
    "to",
  ]);
  const network = expectNetwork(options.network);
  const { token, set = "development" } = options;
  if ((token === undefined) === (options["test-token"] === undefined))
    throw new CommandError("OPTION_MISSING", "either --token ADDRESS or --test-token yes (a worthless one) is needed");
  const smallest = options["smallest-deposit"];
  if (smallest !== undefined && !/^[1-9]\d{0,18}$/.test(smallest))
    throw new CommandError("OPTION_INVALID", "--smallest-deposit is a number of base units, 1 or more");
  // Its address and key come from Hardhat's keystore or the environment: hardhat.config.ts.
  const connection = await hre.network.create({ network: "deploy" });
  try {
    const amounts = smallest === undefined ? {} : { smallestDeposit: BigInt(smallest) };
    const manifest = await deployPool(connection, { network, set, token, displayUi: true, ...amounts });
    const file = manifestOf(network, options.to === undefined ? undefined : resolve(options.to));
    writeAtomically(file, toJson(manifest));
    await prepareVerification(manifest, sourcesOf(network));
    console.log(`pool ${manifest.pool} on chain ${manifest.chainId}, keys ${set}`);
    console.log(`manifest ${relative(root, file)}: commit it, and give it to service, wallets and shops`);
    console.log(`for explorers: ${relative(root, sourcesOf(network))}/verification.json`);
  } finally {
    await connection.close();
  }
});
