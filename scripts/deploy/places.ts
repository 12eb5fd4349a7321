import { join } from "node:path";
import { root } from "../circuits/paths.ts";
import { CommandError } from "../lib/command.ts";

/** @throws CommandError NETWORK_INVALID */
export function parseNetwork(name: string | undefined): string {
  if (name !== undefined && /^[a-z][a-z0-9-]{0,39}$/.test(name)) return name;
  throw new CommandError(
    "NETWORK_INVALID",
    "--network NAME is missing or invalid: expected a to z, 0 to 9 and -, as in base-sepolia",
  );
}

/** The folder of committed manifests. */
const MANIFESTS = join(root, "deployments");

/** The manifest of a deployment. */
export const manifestOf = (network: string, folder = MANIFESTS): string => join(folder, `${network}.json`);

/** The manifest that `pnpm deploy:local` writes, valid as long as the local chain runs. */
export const localManifest = join(root, ".sotto", "deployment.json");

/** Sources for explorers. They are reproducible from the commit, so they are not committed. */
export const sourcesOf = (network: string): string => join(root, ".sotto", "deployments", network);
