// Shared by the tests of this suite: `npm run dev`, and a registry with the packed packages.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { atEnd } from "@sotto/test-kit/at-end";
import { inLongRun } from "@sotto/test-kit/matrix";
import { createProject, TEMPLATES } from "create-sotto";
import { packAll } from "../../scripts/release/pack.ts";
import { type Registry, startRegistry } from "../../scripts/release/registry.ts";
import { freePorts, RUNNING, startDev } from "../dev/support/dev.ts";

export interface World {
  /** Outside the checkout; projects are created in it. */
  readonly folder: string;
  readonly registry: Registry;
  /** The first of the six ports of `npm run dev`. */
  readonly port: number;
  /** A workspace with the members `guides` and the templates of {@link TOGETHER}, installed with one command. */
  readonly projects: string;
  /** The last code that the registry sent to a number, as the terminal of `npm run dev` shows it. */
  lastCode(phone: string): string | undefined;
  /** Environment variables of a project, which otherwise uses the default ports. */
  readonly environment: Readonly<Record<string, string>>;
}

const run = promisify(execFile);

/**
 * Runs npm in a project.
 * @returns its output @throws Error with its output if it fails
 */
export async function npm(folder: string, args: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<string> {
  try {
    const { stdout } = await run("npm", args, { cwd: folder, env: { ...process.env, ...variables } });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`npm ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/**
 * Templates that are installed separately, as users do. The agent project starts programs from its own node_modules.
 */
export const ALONE = inLongRun(
  ["client-mcp"],
  ["resource-server-express", "resource-server-fastify", "resource-server-hono", "client", "browser"],
);
/** The other templates share one installation; packages/create-sotto tests that each declares its imports. */
export const TOGETHER = TEMPLATES.map(({ name }) => name).filter((name) => !ALONE.includes(name));

/** The packages that the pages import: third-party ones in the versions of the checkout, and sotto's. */
const FOREIGN = [
  "@hono/node-server",
  "@modelcontextprotocol/sdk",
  "@types/express",
  "@types/node",
  "@x402/core",
  "@x402/express",
  "@x402/extensions",
  "@x402/fetch",
  "ethers",
  "express",
  "fastify",
  "hono",
  "typescript",
  "zod",
];
const OWN = ["cli", "client", "mcp", "phone-registry", "protocol", "resource-server", "server", "x402"];

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** The dependencies of the project in which the pages' programs run. */
function guideDependencies(): Record<string, string> {
  const root = join(import.meta.dirname, "..", "..");
  const manifests = ["", "packages/mcp"].map(
    (folder) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest,
  );
  const versions = Object.assign({}, ...manifests.map(({ dependencies }) => dependencies)) as Record<string, string>;
  Object.assign(versions, ...manifests.map(({ devDependencies }) => devDependencies));
  return Object.fromEntries([
    ...OWN.map((name) => [`@sotto/${name}`, manifests[0]!.version]),
    ...FOREIGN.map((name) => [name, versions[name]]),
  ]);
}

async function installProjects(folder: string, registry: Registry): Promise<void> {
  for (const name of TOGETHER) createProject(name, join(folder, name), registry.url);
  mkdirSync(join(folder, "guides"), { recursive: true });
  const guides = { name: "guides", private: true, type: "module", dependencies: guideDependencies() };
  writeFileSync(join(folder, "guides", "package.json"), JSON.stringify(guides));
  writeFileSync(join(folder, ".npmrc"), `@sotto:registry=${registry.url}/\n`);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, workspaces: ["guides", ...TOGETHER] }));
  await install(folder);
}

export const install = (folder: string): Promise<string> =>
  npm(folder, ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"]);

let shared: Promise<World> | undefined;
/** Actions to run at the end, the last one first. */
const cleanup: (() => Promise<unknown>)[] = [];

/** Opens the resources that all tests of the run share. */
export function openWorld(): Promise<World> {
  shared ??= create();
  return shared;
}

async function create(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "sotto-outside-"));
  cleanup.push(async () => rmSync(folder, { recursive: true, force: true }));
  const port = await freePorts();
  const dev = startDev("--port", String(port), "--state", join(folder, "dev"));
  cleanup.push(async () => {
    dev.child.kill("SIGTERM");
    await dev.ended;
  });
  const packages = await packAll(join(folder, "packages"));
  const registry = await startRegistry({ packages, port: 0 });
  cleanup.push(() => registry.close());
  const projects = join(folder, "projects");
  await installProjects(projects, registry);
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
