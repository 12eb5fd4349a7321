import { join } from "node:path";
import { root } from "../circuits/paths.ts";
import { CommandError } from "../lib/command.ts";

/** @throws CommandError NETWORK_INVALID */
export function expectNetwork(name: string | undefined): string {
  if (name !== undefined && /^[a-z][a-z0-9-]{0,39}$/.test(name)) return name;
  throw new CommandError("NETWORK_INVALID", "--network names the deployment: a to z, 0 to 9 and -, e.g. base-sepolia");
}

/** Where manifests are committed. */
const MANIFESTS = join(root, "deployments");

/** The manifest of a deployment. @param folder another place for it */
export const manifestOf = (network: string, folder = MANIFESTS): string => join(folder, `${network}.json`);

/** Of the pool that `pnpm deploy:local` made; it lasts as long as the local chain. */
export const localManifest = join(root, ".sotto", "deployment.json");

/** What explorers ask for; made again from the same commit, so not committed. */
export const sourcesOf = (network: string): string => join(root, ".sotto", "deployments", network);
