// The agent's wallet is a folder of the command line `sotto`: create it, limit it, fill it.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { isLocal, readDeployment } from "./deployment.ts";
import { folder, node, service } from "./settings.ts";

const run = promisify(execFile);

export const home = join(folder, "wallet");
/** No tool of the agent can change these. A person has to approve payments above the last limit. */
const LIMITS = ["--max", "0.10", "--max-host", "1", "--max-day", "2", "--approve-above", "0.05"];

/** @returns the path of an installed program */
export const programOf = (name: string): string => join("node_modules", ".bin", name);

/** Runs `sotto`. @returns what it prints */
async function sotto(...args: string[]): Promise<string> {
  const { stdout } = await run(programOf("sotto"), [...args, "--home", home]);
  return stdout;
}

/** Creates the wallet if there is none. On a local chain, an empty one gets test tokens. */
export async function setUp(): Promise<void> {
  const deployment = await readDeployment(service);
  if (!existsSync(join(home, "config.json"))) {
    console.error(`Creating a wallet in ${home}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const manifest = join(folder, "deployment.json");
    writeFileSync(manifest, JSON.stringify(deployment));
    await sotto("init", "--deployment", manifest, "--rpc", node, "--service", service);
    await sotto("limits", ...LIMITS);
  }
  if (!isLocal(deployment)) return;
  const { total } = JSON.parse(await sotto("balance", "--json")) as { total: { amount: string } };
  if (total.amount !== "0") return;
  console.error("The wallet is empty: depositing 5 test USDC");
  await sotto("deposit", "5", "--notes", "2", "--mint");
}

/** The configuration of an MCP client that starts in any folder. Its own PATH may have another Node, or none. */
export function configuration(): object {
  const args = [resolve("node_modules", "@sotto", "mcp", "dist", "main.js"), "--home", resolve(home)];
  return { mcpServers: { sotto: { command: process.execPath, args } } };
}
