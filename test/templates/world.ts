// Shared by the tests of this suite: `npm run dev`, and a registry with the packed packages.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { atEnd } from "@sotto/test-kit/at-end";
import { packAll } from "../../scripts/release/pack.ts";
import { type Registry, startRegistry } from "../../scripts/release/registry.ts";
import { freePorts, RUNNING, startDev } from "../dev/support/dev.ts";

export interface World {
  /** Outside the checkout; projects are created in it. */
  readonly folder: string;
  readonly registry: Registry;
  /** The first of the six ports of `npm run dev`. */
  readonly port: number;
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
  await dev.until(RUNNING);
  const url = (offset: number) => `http://127.0.0.1:${port + offset}`;
  const environment = {
    SOTTO_SERVICE: `${url(1)}/zk`,
    SOTTO_URL: `${url(2)}/articles/1`,
    SOTTO_FAUCET: `${url(4)}/drip`,
    SOTTO_NODE: url(5),
    SOTTO_NODES: url(5),
  };
  return { folder, registry, port, environment };
}

atEnd(async () => {
  for (let action = cleanup.pop(); action; action = cleanup.pop()) await action();
});
