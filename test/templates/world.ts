// Shared by the tests of this suite and of test/addons: `npm run dev`, and a registry with the packed packages.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { atEnd } from "@sotto/test-kit/at-end";
import { createProject } from "create-sotto";
import { foldersWithDependencies, packAll } from "../../scripts/release/pack.ts";
import { type Registry, startRegistry } from "../../scripts/release/registry.ts";
import { freePorts, RUNNING, startDev } from "../dev/support/dev.ts";

/** What a suite needs of the world. */
export interface Needs {
  /**
   * The suite's folder. The registry serves the packages on which its package.json depends, and their dependencies: a
   * project that needs another one cannot be installed, so that the suite runs again after a change in any of its packages.
   */
  readonly suite: string;
  /** Templates that share one installation with the guides. */
  readonly together: readonly string[];
  /** Packages of this project that the pages import. */
  readonly own: readonly string[];
  /** Third-party packages that the pages import. */
  readonly foreign: readonly string[];
}

export interface World {
  /** Outside the checkout; projects are created in it. */
  readonly folder: string;
  readonly registry: Registry;
  /** The first of the seven ports of `npm run dev`. */
  readonly port: number;
  /** A workspace with the member `guides` and the templates that are installed together. */
  readonly projects: string;
  /** The last code that the registry sent to a number, as the terminal of `npm run dev` shows it. */
  lastCode(phone: string): string | undefined;
  /** Environment variables of a project, which otherwise uses the default ports. */
  readonly environment: Readonly<Record<string, string>>;
}

const run = promisify(execFile);

/** @returns the output of a command in a folder @throws Error with its output if it fails */
async function runIn(
  folder: string,
  command: string,
  args: readonly string[],
  variables: NodeJS.ProcessEnv,
): Promise<string> {
  try {
    const { stdout } = await run(command, args, { cwd: folder, env: { ...process.env, ...variables } });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Runs npm in a project. @returns its output @throws Error with its output if it fails */
export const npm = (folder: string, args: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<string> =>
  runIn(folder, "npm", args, variables);

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, "..", "..");
const readJson = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8")) as Manifest;

/** The dependencies of the project in which the pages' programs run: third-party ones in the versions of the checkout. */
function guideDependencies({ own, foreign }: Needs): Record<string, string> {
  const manifests = ["", "packages/mcp"].map((folder) => readJson(join(root, folder, "package.json")));
  const versions = Object.assign({}, ...manifests.map(({ dependencies }) => dependencies)) as Record<string, string>;
  Object.assign(versions, ...manifests.map(({ devDependencies }) => devDependencies));
  return Object.fromEntries([
    ...own.map((name) => [`@sotto/${name}`, manifests[0]!.version]),
    ...foreign.map((name) => [name, versions[name]]),
  ]);
}

/**
 * Installs with pnpm, whose store has the third-party packages of the checkout already. A project can import only the
 * dependencies that it declares.
 */
async function installProjects(folder: string, registry: Registry, needs: Needs): Promise<void> {
  for (const name of needs.together) createProject(name, join(folder, name), registry.url);
  mkdirSync(join(folder, "guides"), { recursive: true });
  const guides = { name: "guides", private: true, type: "module", dependencies: guideDependencies(needs) };
  writeFileSync(join(folder, "guides", "package.json"), JSON.stringify(guides));
  writeFileSync(join(folder, ".npmrc"), `@sotto:registry=${registry.url}/\n`);
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  writeFileSync(join(folder, "pnpm-workspace.yaml"), JSON.stringify({ packages: ["guides", ...needs.together] }));
  // On a CI machine, pnpm would refuse to write a lockfile.
  const args = ["install", "--ignore-scripts", "--prefer-offline", "--reporter=append-only"];
  await runIn(folder, "pnpm", args, { CI: "" });
}

/** Installs a project as users do. */
export const install = (folder: string): Promise<string> =>
  npm(folder, ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"]);

let shared: Promise<World> | undefined;
/** Actions to run at the end, the last one first. */
const cleanup: (() => Promise<unknown>)[] = [];

/** Opens the resources that all tests of the run share. All tests of a suite have the same needs. */
export function openWorld(needs: Needs): Promise<World> {
  shared ??= create(needs);
  return shared;
}

async function create(needs: Needs): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "sotto-outside-"));
  cleanup.push(async () => rmSync(folder, { recursive: true, force: true }));
  const port = await freePorts();
  const dev = startDev("--port", String(port), "--state", join(folder, "dev"));
  cleanup.push(async () => {
    dev.child.kill("SIGTERM");
    await dev.ended;
  });
  const { dependencies = {} } = readJson(join(needs.suite, "package.json"));
  const packages = await packAll(join(folder, "packages"), foldersWithDependencies(Object.keys(dependencies)));
  const registry = await startRegistry({ packages, port: 0 });
  cleanup.push(() => registry.close());
  const projects = join(folder, "projects");
  await installProjects(projects, registry, needs);
  await dev.until(RUNNING);
  const url = (offset: number) => `http://127.0.0.1:${port + offset}`;
  const environment = {
    SOTTO_SERVICE: `${url(1)}/zk`,
    SOTTO_URL: `${url(2)}/articles/1`,
    SOTTO_FAUCET: `${url(4)}/drip`,
    SOTTO_NODE: url(5),
    SOTTO_NODES: url(5),
  };
  const lastCode = (phone: string): string | undefined =>
    [...dev.output().matchAll(/code (\d+) for (\+\d+),/g)].filter(([, , number]) => number === phone).at(-1)?.[1];
  return { folder, registry, projects, port, environment, lastCode };
}

atEnd(async () => {
  for (let action = cleanup.pop(); action; action = cleanup.pop()) await action();
});
