// Pays the sample server of `npm run dev` of sotto's checkout, from a new wallet.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "test-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** @returns what the program prints */
async function pay(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, ["src/pay.ts", ...args], { env: { ...process.env, DATA: folder } });
  return stdout;
}
// SOTTO_URL names another server's paid URL.
const urls = process.env["SOTTO_URL"] === undefined ? [] : [process.env["SOTTO_URL"]];

test("pays, and prints what was paid and who learned what", async () => {
  const output = await pay(...urls);
  assert.match(output, /^200 /);
  assert.match(output, /^paid +0\.05 USDC for http/m);
  assert.match(output, /^chain .* in transaction\n +0x[0-9a-f]{64}$/m);
});

test("pays again with the same wallet", async () => {
  assert.match(await pay(...urls), /^left +9\.9 USDC$/m);
});

test("nobody else can read the wallet's words", () => {
  assert.equal(statSync(join(folder, "words")).mode & 0o777, 0o600);
});
