// The Node versions that users have: real ones, from the same npm packages from which the launcher installs its own.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { NODE_PACKAGES } from "@sotto/command/node-packages";
import { root } from "@sotto/keys/circuits/paths";

/** The last Node 20, the oldest Node that the packages support, and the Node of this checkout. */
export const NODE_20 = "20.20.2";
export const NODE_22 = "22.13.0";
export const NODE_24 = process.versions.node;

/** @returns the folder of the `node` program, which is downloaded once and kept in .release/ */
export function nodeFolder(version: string): string {
  if (version === NODE_24) return dirname(process.execPath);
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined) throw new Error(`npm has no Node for ${process.platform}-${process.arch}`);
  const kept = join(root, ".release", "node", version);
  const bin = join(kept, "node_modules", name, "bin");
  if (existsSync(bin)) return bin;
  // Installed into a temporary folder and then renamed, so that an interrupted download never looks complete.
  const staging = `${kept}-${process.pid}`;
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  writeFileSync(join(staging, "package.json"), JSON.stringify({ private: true, dependencies: { [name]: version } }));
  // A separate settings file, so that the folder is not treated as a member of the checkout's workspace.
  writeFileSync(join(staging, "pnpm-workspace.yaml"), '{ "packages": [] }\n');
  const args = ["install", "--ignore-scripts", "--prefer-offline", "--reporter=append-only"];
  // pnpm unpacks an archive of this size in a third of npm's time. On a CI machine, it would refuse to write a lockfile.
  const env = { ...process.env, CI: "" };
  execFileSync("pnpm", args, { cwd: staging, env, stdio: ["ignore", "inherit", "inherit"] });
  rmSync(kept, { recursive: true, force: true });
  renameSync(staging, kept);
  return bin;
}
