// Installs the Node and pnpm of this project into .toolchain/ and the locked dependencies into node_modules/.
// Both are safe to interrupt: a stamp is written only after success and removed before anything is touched.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { exclusively } from "../../packages/command/src/exclusive.mjs";
import { NODE_PACKAGES } from "../../packages/command/src/node-packages.mjs";
import { elapsed, lastDuration, Progress, recordDuration } from "../../packages/command/src/progress.mjs";
import { cleanEnvironment, LauncherError, run } from "./process.mjs";

const NODE_VERSION = "24.21.0";

/** How long each step takes on an ordinary connection, seconds. */
const EXPECTED = { toolchain: 20, dependencies: 40 };

/**
 * Runs a package manager and shows its progress. The output of the package manager is shown only if it fails, because
 * its warnings about indirect dependencies do not help the user.
 * @param name the name of the step in EXPECTED
 * @param detailOf returns what to show of the output so far
 */
async function install(root, name, what, command, args, { cwd, env }, detailOf = () => "") {
  const progress = new Progress();
  const start = performance.now();
  const expected = lastDuration(root, name) ?? EXPECTED[name];
  let output = "";
  const onOutput = (text) => {
    output = (output + text).slice(-10_000);
  };
  progress.show(() => `sotto: ${what}${detailOf(output)} (${elapsed(start, expected)})`);
  try {
    const status = await run(command, args, { cwd, env, onOutput });
    if (status === 0) recordDuration(root, name, (performance.now() - start) / 1000);
    return status;
  } finally {
    progress.stop();
  }
}

/** The last progress line of pnpm's output. */
function packagesDone(output) {
  const [line] = output.match(/Progress: resolved \d+, reused \d+, downloaded \d+, added \d+/g)?.slice(-1) ?? [];
  if (line === undefined) return " the locked dependencies";
  const [resolved, , , added] = line.match(/\d+/g);
  return ` ${added} of ${resolved} locked dependencies`;
}

const isStamped = (stamp, content) => existsSync(stamp) && readFileSync(stamp, "utf8") === content;

/** Reads pnpm's version from `packageManager` in package.json, where pnpm and other tools look for it too. */
const packageManager = (root) => JSON.parse(readFileSync(join(root, "package.json"), "utf8")).packageManager;

function toolchainPackages(root) {
  const platform = `${process.platform}-${process.arch}`;
  const nodePackage = NODE_PACKAGES[platform];
  if (nodePackage) return [`${nodePackage}@${NODE_VERSION}`, packageManager(root)];
  // npm has no Node binary for this platform, so an installed Node of the same major version is used.
  if (Number.parseInt(process.versions.node, 10) >= 24) return [packageManager(root)];
  throw new LauncherError(
    "UNSUPPORTED_PLATFORM",
    `npm has no Node ${NODE_VERSION} for ${platform}; install Node 24 yourself and run the command again`,
  );
}

/** Installs into a temporary folder and renames it, so that .toolchain/ never has an incomplete tool. */
async function fetchToolchain(root, toolchain, packages) {
  const staging = join(root, `.toolchain-${process.pid}`);
  const remove = () => rmSync(staging, { recursive: true, force: true });
  try {
    mkdirSync(staging);
    writeFileSync(join(staging, "package.json"), '{ "private": true }\n');
    const env = cleanEnvironment(process.env, process.env.PATH);
    const args = ["install", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", "--save-exact"];
    // Short enough for a terminal of 80 columns with its times.
    const what = `fetching ${packages.join(" and ")}`;
    const status = await install(root, "toolchain", what, "npm", [...args, ...packages], { cwd: staging, env });
    if (status === 130 || status === 143)
      throw new LauncherError("INTERRUPTED", "interrupted while installing; run the same command again");
    if (status !== 0)
      throw new LauncherError("INSTALL_FAILED", `npm could not install ${packages.join(" and ")} (exit ${status})`);
    writeFileSync(join(staging, "stamp"), packages.join(" "));
    rmSync(toolchain, { recursive: true, force: true });
    renameSync(staging, toolchain);
  } catch (error) {
    // Another launcher in the same checkout has installed it in the meantime.
    if (isStamped(join(toolchain, "stamp"), packages.join(" "))) return;
    throw error;
  } finally {
    remove();
  }
}

/**
 * @param command as the user typed it
 * @returns the environment in which `node` is the pinned one and the tools of node_modules/.bin are found
 */
export async function ensureToolchain(root, command) {
  const toolchain = join(root, ".toolchain");
  const packages = toolchainPackages(root);
  const isInstalled = () => isStamped(join(toolchain, "stamp"), packages.join(" "));
  if (!isInstalled())
    await exclusively(root, command, async () => {
      if (!isInstalled()) await fetchToolchain(root, toolchain, packages);
    });
  const path = [join(toolchain, "node_modules", ".bin"), join(root, "node_modules", ".bin"), process.env.PATH];
  return cleanEnvironment(process.env, path.join(delimiter));
}

/** Hash of the files that determine node_modules. */
function dependencyHash(root) {
  const inFolder = (folder) =>
    existsSync(join(root, folder)) ? readdirSync(join(root, folder)).map((name) => join(folder, name)) : [];
  const members = ["circuits", "scripts", ...["packages", "test"].flatMap(inFolder)];
  const manifests = ["", ...members].map((member) => join(member, "package.json"));
  const hash = createHash("sha256");
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests])
    if (existsSync(join(root, file))) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

/**
 * Tells pnpm to use the package store that node_modules was installed from. With another one, as under another HOME, pnpm would
 * delete node_modules and download every package again.
 */
function storeArguments(root) {
  const path = join(root, "node_modules", ".modules.yaml");
  const [, store] = (existsSync(path) && /^\s*"?storeDir"?: "?([^"\n]+)/m.exec(readFileSync(path, "utf8"))) || [];
  return store !== undefined && existsSync(store) ? [`--store-dir=${store}`] : [];
}

/** @param command as the user typed it */
export async function ensureDependencies(root, env, command) {
  const stamp = join(root, "node_modules", ".sotto-stamp");
  const content = dependencyHash(root);
  if (isStamped(stamp, content)) return;
  await exclusively(root, command, async () => {
    if (!isStamped(stamp, content)) await installDependencies(root, env, stamp, content);
  });
}

async function installDependencies(root, env, stamp, content) {
  rmSync(stamp, { force: true });
  const version = { cwd: root, env, stdio: "ignore" };
  if ((await run("node", [join("scripts", "launcher", "check-node.mjs")], version)) !== 0)
    throw new LauncherError(
      "TOOLCHAIN_BROKEN",
      "the Node in .toolchain/ does not run here; delete .toolchain/ or install Node 24",
    );
  // Answers in advance the only question pnpm may ask: whether to replace a node_modules made by another package manager.
  const args = ["install", "--frozen-lockfile", "--reporter=append-only", "--config.confirmModulesPurge=false"];
  args.push(...storeArguments(root));
  const what = "installing";
  const status = await install(root, "dependencies", what, "pnpm", args, { cwd: root, env }, packagesDone);
  if (status === 130 || status === 143)
    throw new LauncherError("INTERRUPTED", "interrupted: run the same command again to resume");
  if (status !== 0)
    throw new LauncherError("INSTALL_FAILED", `pnpm could not install the dependencies (exit ${status})`);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, content);
}
