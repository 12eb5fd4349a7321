// An agent pays the sample server of `npm run dev` of sotto's checkout, from a new wallet.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "test-"));
after(() => rmSync(folder, { recursive: true, force: true }));
// SOTTO_URL names another server's paid URL.
const urls = process.env["SOTTO_URL"] === undefined ? [] : [process.env["SOTTO_URL"]];

test("asks for the price, pays, and gets the article", async () => {
  const env = { ...process.env, DATA: folder };
  const { stdout } = await run(process.execPath, ["src/agent.ts", ...urls], { env });
  assert.match(stdout, /^Nothing was paid by this call\.$/m);
  assert.match(stdout, /^Paid 0\.05 USDC .* in transaction 0x[0-9a-f]{64}/m);
  assert.match(stdout, /^Article 1\./m);
});

test("prints a configuration with which an agent in any folder starts the server", async () => {
  const { stdout } = await run(process.execPath, ["src/setup.ts"], { env: { ...process.env, DATA: folder } });
  const { command, args } = JSON.parse(stdout).mcpServers.sotto as { command: string; args: string[] };
  const client = new Client({ name: "test", version: "0.1.0" });
  await client.connect(new StdioClientTransport({ command, args, cwd: tmpdir(), env: {} }));
  const { structuredContent } = await client.callTool({ name: "balance" });
  await client.close();
  const { total } = structuredContent as { total: { amount: string } };
  assert.equal(total.amount, "4950000");
});

test("limits the wallet, and keeps its key from others", () => {
  const wallet = join(folder, "wallet");
  assert.equal(statSync(join(wallet, "seed")).mode & 0o777, 0o600);
  assert.match(readFileSync(join(wallet, "config.json"), "utf8"), /"limits"/);
});
