// `pnpm deploy:network --network NAME (--token ADDRESS | --test-token yes) [--set ceremony/NAME] [--smallest-deposit N]
// [--finality N] [--to FOLDER]`: deploys a pool and writes its manifest. After an error, run it again to resume.
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CommandError, parseOptions, runCommand } from "@sotto/command/command";
import { MAX_FINALITY } from "@sotto/protocol";
import { DEVELOPMENT_SET } from "@sotto/prover";
import { journalOf, manifestOf, parseNetwork } from "./manifest-paths.ts";

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
  const blocks = options.finality;
  if (blocks !== undefined && !(/^\d{1,4}$/.test(blocks) && Number(blocks) <= MAX_FINALITY))
    throw new CommandError(
      "OPTION_INVALID",
      `--finality is ${blocks}; expected a number of blocks from 0 to ${MAX_FINALITY}`,
    );
  const finality = blocks === undefined ? undefined : Number(blocks);
  const file = manifestOf(network, options.to === undefined ? undefined : resolve(options.to));
  assertManifestWritable(file, network);
  // Imported only now, because Hardhat takes longer to load than all checks above.
  const { deployOnNetwork } = await import("./on-network.ts");
  const smallestDeposit = smallest === undefined ? undefined : BigInt(smallest);
  await deployOnNetwork({ network, set, token, smallestDeposit, finality, file });
});
