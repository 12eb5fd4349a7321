// The demo as a user runs it: the whole story with real proofs and transactions, and the ways it can be stopped.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import { readBalances } from "../../scripts/demo/balances.ts";
import { playStep } from "../../scripts/demo/step.ts";
import { deposit } from "../../scripts/demo/steps/deposit.ts";
import { story } from "../../scripts/demo/story.ts";
import { Cleanup, createWorld } from "../../scripts/demo/world.ts";
import { command, expectRefused, type Result } from "./command.ts";

const root = join(import.meta.dirname, "..", "..");
const built = join(root, "circuits", "build");

/** Ignition's journals of this process's chains: none may stay. */
const journals = () => {
  const folder = join(root, "ignition", "deployments");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith("local-")) : [];
};

/** A server on a port of its own. */
const listen = (): Promise<{ server: Server; port: number }> =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => resolve({ server, port: (server.address() as { port: number }).port }));
  });

const freePort = async () => {
  const { server, port } = await listen();
  await new Promise((resolve) => server.close(resolve));
  return port;
};

describe("npm run demo", () => {
  let port: number;
  let whole: Result;
  before(async () => {
    port = await freePort();
    whole = await command("demo/main.ts", ["--port", String(port)]);
  });

  it("plays the whole story and finds every balance exact", async () => {
    const { status, stdout, stderr } = whole;
    expect(stderr).to.equal("");
    expect(status).to.equal(0);
    for (const [index, { title }] of story.entries()) expect(stdout).to.contain(`\n${index + 1}. ${title}\n`);
    expect(stdout.match(/ {2}exact$/gm)).to.have.lengthOf(11);
    expect(stdout).to.match(/\nAll 10 transactions, [\d,]+ gas: every balance is exact\. [\d.]+ s\n$/);
    // Not a terminal: nothing but text, and lines that fit.
    expect(stripVTControlCharacters(stdout)).to.equal(stdout);
    const longest = Math.max(...stdout.split("\n").map((line) => line.length));
    expect(longest).to.be.at.most(120);
    // The chain is gone: its port can be taken.
    const { server } = await new Promise<{ server: Server }>((resolve, reject) => {
      const next = createServer().once("error", reject);
      next.listen(port, "127.0.0.1", () => resolve({ server: next }));
    });
    server.close();
  });

  it("shows the observer no amount and no party of a payment", () => {
    const lines = whole.stdout.split("\n");
    const start = lines.findIndex((line) => line.startsWith("4. "));
    const end = lines.findIndex((line) => line.startsWith("5. "));
    const observer = lines.slice(start + 2, end - 1).map((line) => line.split(" | ")[2] ?? "");
    expect(observer.join(" "))
      .to.contain("nullifier")
      .and.not.match(/USDC|news\.example/);
  });

  it("shows the service what is paid for and the bounds of the price, and no payer", () => {
    const lines = whole.stdout.split("\n");
    const [payer = ""] = /(?<=signed one message as )0x[0-9a-f]{8}/.exec(whole.stdout.replaceAll(/\s+/g, " ")) ?? [];
    expect(payer).to.match(/^0x/);
    const service = (step: number) => {
      const start = lines.findIndex((line) => line.startsWith(`${step}. `));
      const from = lines.indexOf("SERVICE", start);
      const to = lines.findIndex((line, index) => index > from && line.startsWith("   "));
      return lines.slice(from + 1, to).join("\n");
    };
    expect(service(1)).to.contain("POST /zk/deposit").and.contain(payer);
    expect(service(3)).to.equal("- nothing: no request");
    expect(service(4)).to.contain("https://news.example/articles/42, 1.50 USDC to 1.65 USDC").and.not.contain(payer);
    expect(service(8)).to.contain("POST /zk/verify").and.contain("POST /zk/settle");
    expect(service(10)).to.contain("POST /zk/withdraw: the proof holds and spends 2 notes; nothing leaves the pool");
    expect(service(12)).to.contain("3.00 USDC to 0x");
  });

  it("would notice a story that was cut short", async () => {
    const cleanup = new Cleanup();
    const printed: string[] = [];
    const screen = { width: 120, colours: false, write: (part: string) => void printed.push(part) };
    try {
      const world = await createWorld(screen, { port: 0, artifacts: built }, cleanup);
      await playStep(world, 1, deposit);
      const different = (await readBalances(world)).filter(({ expected, found }) => expected !== found);
      expect(different.map(({ what }) => what)).to.include.members(["payer, shielded", "merchant, account", "pool"]);
      expect(different.map(({ what }) => what)).not.to.include("payer, account");
      expect(printed.join("")).to.contain("paid by the relayer");
    } finally {
      await cleanup.run();
    }
  });

  it("leaves nothing behind when it is stopped", async () => {
    const port = await freePort();
    const before = journals();
    let stopped = false;
    const { status, stdout } = await command("demo/main.ts", ["--port", String(port)], (text, child) => {
      // Once: a second Ctrl-C ends it without waiting for anything.
      if (text.includes("\n2. ") && !stopped) stopped = child.kill("SIGINT");
    });
    expect(status).to.equal(130);
    expect(stdout).not.to.contain("every balance is exact");
    expect(journals()).to.deep.equal(before);
    const [service = ""] = /(?<=it listens at )http:\S+/.exec(stdout) ?? [];
    const gone: Error = await fetch(`${service}/healthz`).then(
      () => expect.fail(`${service} answers`),
      (error: Error) => error,
    );
    expect(gone.cause).to.have.property("code", "ECONNREFUSED");
    await new Promise<void>((resolve, reject) => {
      const next = createServer().once("error", reject);
      next.listen(port, "127.0.0.1", () => next.close(() => resolve()));
    });
  });

  it("refuses a busy port, a port that is none, and options it does not know", async () => {
    const { server, port } = await listen();
    expectRefused(await command("demo/main.ts", ["--port", String(port)]), "PORT_BUSY", String(port), "--port");
    server.close();
    expectRefused(await command("demo/main.ts", ["--port", "70000"]), "INVALID_PORT", "70000");
    expectRefused(await command("demo/main.ts", ["--speed", "11"]), "UNKNOWN_OPTION", "--speed", "--port");
  });

  it("refuses a damaged artifact by name, before it starts anything", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sotto-artifacts-"));
    try {
      for (const circuit of readdirSync(built))
        if (circuit !== "payment") symlinkSync(join(built, circuit), join(folder, circuit));
      mkdirSync(join(folder, "payment"));
      for (const file of ["payment.wasm", "payment.vkey.json"])
        copyFileSync(join(built, "payment", file), join(folder, "payment", file));
      const missing = await command("demo/main.ts", ["--artifacts", folder]);
      expectRefused(missing, "ARTIFACT_MISSING", "payment.zkey");
      const zkey = readFileSync(join(built, "payment", "payment.zkey"));
      zkey.writeUInt8(zkey.readUInt8(1_000_000) ^ 1, 1_000_000);
      writeFileSync(join(folder, "payment", "payment.zkey"), zkey);
      const damaged = await command("demo/main.ts", ["--artifacts", folder]);
      expectRefused(damaged, "ARTIFACT_CHANGED", "payment.zkey");
      expect(damaged.stdout).not.to.contain("chain");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
