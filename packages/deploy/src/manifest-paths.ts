import { join } from "node:path";
import { CommandError } from "@sotto/command/command";
import { root } from "@sotto/keys/circuits/paths";

/** Checks the name of a deployment, which becomes part of paths. @throws CommandError NETWORK_INVALID */
export function parseNetwork(name: string | undefined): string {
  if (name !== undefined && /^[a-z][a-z0-9-]{0,39}$/.test(name)) return name;
  throw new CommandError(
    "NETWORK_INVALID",
    "--network NAME is missing or invalid: expected a to z, 0 to 9 and -, as in base-sepolia",
  );
}

/** The folder of committed manifests. */
const MANIFESTS = join(root, "deployments");

/** Path of a deployment's manifest. */
export const manifestOf = (network: string, folder = MANIFESTS): string => join(folder, `${network}.json`);

/** Path of the manifest that `pnpm deploy:local` writes; it is valid as long as the local chain runs. */
export const localManifest = join(root, ".sotto", "deployment.json");

/** Folder of the sources for explorers. They are reproducible from the commit, so they are not committed. */
export const sourcesOf = (network: string): string => join(root, ".sotto", "deployments", network);

/** Ignition's journal of a deployment, in Hardhat's default folder. It is known here without loading Hardhat. */
export const journalOf = (network: string): string => join(root, "ignition", "deployments", network, "journal.jsonl");
