// Starts the server and pays for its report. It needs `npm run dev` of sotto's checkout.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { wrapFetch } from "@sotto/client";
import { createSeedWords, MemoryStore } from "@sotto/wallet";
import { openWallet } from "@sotto/wallet/node";
import { Wallet as Account } from "ethers";
import { readDeployment } from "../src/deployment.ts";
import { nodes, service } from "../src/settings.ts";

const FAUCET = process.env["SOTTO_FAUCET"] ?? "http://127.0.0.1:4024/drip";

const folder = mkdtempSync(join(tmpdir(), "test-"));
let server: ChildProcess;
let origin: string;

before(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  const env = { ...process.env, PORT: String(port), ORIGIN: origin, DATA: folder };
  server = spawn(process.execPath, ["src/server.ts"], { env, stdio: ["ignore", "pipe", "inherit"] });
  // The server prints one line when it listens; if it exits before that, its error is above.
  const started = await Promise.race([listening(server), once(server, "exit").then(() => false)]);
  assert.ok(started, "the server ended");
});
after(async () => {
  if (server.exitCode === null) {
    server.kill("SIGTERM");
    await once(server, "exit");
  }
  rmSync(folder, { recursive: true, force: true });
});

/** A free port outside the ranges that systems assign automatically. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const probe = createServer().listen(port, "127.0.0.1");
    const free = await once(probe, "listening").then(
      () => true,
      () => false,
    );
    if (!free) continue;
    await once(probe.close(), "close");
    return port;
  }
}

async function listening({ stdout }: ChildProcess): Promise<boolean> {
  for await (const chunk of stdout ?? []) if (String(chunk).includes("/report")) return true;
  return false;
}

test("the start page is free", async () => {
  assert.equal((await fetch(origin)).status, 200);
});

test("the report costs a payment", async () => {
  const response = await fetch(`${origin}/report`);
  assert.equal(response.status, 402);
  assert.equal(response.headers.get("www-authenticate"), "x402-zk");
});

test("nobody else can read the recipient's keys", () => {
  for (const name of ["viewing-keys.json", "owner.json"])
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
});

test("a wallet pays for the report", async () => {
  const account = Account.createRandom();
  const headers = { "content-type": "application/json" };
  const drip = await fetch(FAUCET, { method: "POST", headers, body: JSON.stringify({ address: account.address }) });
  assert.equal(drip.status, 200);
  const deployment = await readDeployment(service);
  const store = new MemoryStore();
  const wallet = await openWallet({ deployment, words: createSeedWords(), nodes, service, store, folder });
  try {
    await wallet.fund({ amount: 1_000_000n, account });
    const pay = wrapFetch(fetch, wallet, { services: [service], maxPerRequest: 10_000n });
    const response = await pay(`${origin}/report`);
    assert.equal(response.status, 200);
    assert.match(await response.text(), /^The report\. 10000 base units/);
  } finally {
    await wallet.close();
  }
});
