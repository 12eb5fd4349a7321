// A wallet's folder, the commands of `sotto` on it, and the program sotto-mcp as MCP clients start it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { run } from "@sotto/cli-kit";
import { Home, openHomeWallet, readConfig } from "@sotto/cli-kit/home";
import { parseDeployment } from "@sotto/protocol";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { TrapdoorProver } from "@sotto/test-world/trapdoor-prover";
import { fund, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { approves, clientWith } from "./agent.ts";

/** The program, as built. */
export const BIN = join(import.meta.dirname, "..", "..", "..", "packages", "mcp", "dist", "main.js");

export class TestHome {
  readonly folder = temporaryFolder("mcp-home");
  readonly home = new Home(join(this.folder, "home"));

  /** Creates a wallet with notes of these amounts. */
  static async create(world: World, amounts: readonly bigint[]): Promise<TestHome> {
    const created = new TestHome();
    const file = join(created.folder, "deployment.json");
    writeFileSync(file, JSON.stringify(parseDeployment(world)));
    await created.sotto("init", "--deployment", file, "--rpc", world.node.url, "--service", world.serviceUrl);
    const wallet = await created.open();
    await fund(world, wallet, [...amounts]);
    await wallet.close();
    return created;
  }

  get words(): string {
    return readFileSync(this.home.key, "utf8").trim();
  }

  /** Runs a command. @returns its JSON */
  async sotto(...args: string[]): Promise<string> {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    let [text, errors] = ["", ""];
    stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    stderr.on("data", (chunk: Buffer) => {
      errors += chunk.toString();
    });
    stdin.end();
    const { signal } = new AbortController();
    const streams = { stdin, stdout, stderr, terminal: false };
    const options = { streams, environment: {}, signal, version: "0.0.0" };
    const code = await run([...args, "--home", this.home.folder, "--json"], options);
    await new Promise((resolve) => setImmediate(resolve));
    expect(code, `sotto ${args.join(" ")}: ${errors}`).to.equal(0);
    return text;
  }

  open(): Promise<Wallet> {
    return openHomeWallet(this.home, readConfig(this.home), { environment: {}, prover: new TrapdoorProver() });
  }

  /** Starts the program the way an MCP client does. */
  async start(...args: string[]) {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [BIN, "--home", this.home.folder, ...args],
      env: { ...BASE_ENVIRONMENT },
      stderr: "pipe",
    });
    let logged = "";
    transport.stderr?.on("data", (chunk: Buffer) => {
      logged += chunk.toString();
    });
    const client = clientWith(approves);
    await client.connect(transport);
    await client.listTools();
    return { client, transport, logged: () => logged };
  }
}
