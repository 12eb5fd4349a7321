// Runs the demo as a user does, with real proofs and transactions.

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { readBalances } from "@sotto/local/demo/balances";
import { Cleanup } from "@sotto/local/demo/processes";
import { playStep } from "@sotto/local/demo/step";
import { deposit, story } from "@sotto/local/demo/story";
import { searchSecrets } from "@sotto/local/demo/views";
import { createWorld, PHONE } from "@sotto/local/demo/world";
import { freePort } from "@sotto/server";
import { command, type Result } from "@sotto/test-kit/command";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { built, ownPlace } from "./support/demo.ts";

const README = readFileSync(join(import.meta.dirname, "..", "..", "README.md"), "utf8");

describe("npm run demo", function () {
  slow(this, "commands, a chain and proofs");
  let port: number;
  let whole: Result;
  const place = ownPlace();
  before(async () => {
    port = await freePort("127.0.0.1");
    whole = await command("packages/local/src/demo/main.ts", ["--port", String(port)], undefined, place.variables);
  });
  after(() => place.remove());

  const section = (step: number): string => {
    const [, text = ""] = whole.stdout.split(`\n${step}. `);
    return text.split(/\n(?:\d+\. |Balances\n)/)[0] ?? "";
  };

  it("runs to the end, and all balances are exact", async () => {
    const { status, stdout, stderr } = whole;
    expect(stderr).to.equal("");
    expect(status).to.equal(0);
    for (const [index, { title }] of story.entries()) expect(stdout).to.contain(`\n${index + 1}. ${title}\n`);
    expect(stdout.match(/ {2}exact$/gm)).to.have.lengthOf(12);
    expect(stdout).to.match(/\nAll \d+ transactions, [\d,]+ gas: every balance is exact\. [\d.]+ s\n/);
    // Timing decides how many payments share a transaction, so numbers of transactions and gas differ.
    expect(stdout, "as the README shows").to.contain(README.match(/and \d+ more rows like these: \d+ payments/)![0]);
    // Without a terminal, the output is plain text in lines of at most 80 characters.
    expect(stripVTControlCharacters(stdout)).to.equal(stdout);
    const longest = Math.max(...stdout.split("\n").map((line) => line.length));
    expect(longest).to.be.at.most(80);
    // The chain has stopped, so its port is free.
    const { server } = await new Promise<{ server: Server }>((resolve, reject) => {
      const next = createServer().once("error", reject);
      next.listen(port, "127.0.0.1", () => resolve({ server: next }));
    });
    server.close();
    expect(place.files()).to.deep.equal([]);
  });

  it("pays for ten requests at four servers, each once, and no server accepts a proof twice", () => {
    const text = section(5);
    for (const server of ["news +Express", "weather +Fastify", "words +Hono", "rates +none"])
      expect(text.match(new RegExp(` 200 +${server} +GET `, "g")), server).to.have.length.of.at.least(2);
    expect(text.match(/^ +200 /gm)).to.have.lengthOf(10);
    expect(text.match(/^ +402 .*: "ZK proof verification failed"$/gm)).to.have.lengthOf(1);
    expect(text).to.match(/10 paid requests in [\d.]+ s; median [\d.]+ s/);
  });

  it("gives the servers keys that read two months, and not what was sent to the phone number", () => {
    expect(section(7))
      .to.match(/11 payments, 0\.70 USDC/)
      .and.match(/these keys open the/)
      .and.match(/lasting address/);
  });

  it("buys a pack of tokens with one payment, and pays for fifty requests with them", () => {
    const text = section(11);
    expect(text).to.match(/ 50 requests, each with a token of its own: \d+ ms each\./);
    expect(text).to.contain("paid 1.00 USDC once for 100 tokens").and.contain("0.50 USDC are unspent");
    expect(text.match(/POST \/zk\/settle/g)).to.have.lengthOf(1);
  });

  it("pays a request whose price is known afterwards, and gets change", () => {
    const text = section(12);
    expect(text).to.contain("Token 0.10 USDC, charge 0.03 USDC for 3 days, change 0.07 USDC.");
    expect(text.replaceAll(/\s+/g, " ")).to.contain("change: 1 of 0.05 USDC, 1 of 0.02 USDC");
    expect(text.match(/POST \/zk\/settle/g)).to.have.lengthOf(1);
    expect(whole.stdout).to.match(/payer, prepaid tokens +0\.57 USDC +0\.57 USDC +exact/);
  });

  it("shows a server and a bank that the payer's money comes from an accepted deposit", () => {
    expect(section(13)).to.match(/ 200 \{.*"origin":\["demo"\]\}/);
    const text = section(14).replaceAll(/\s+/g, " ");
    expect(text).to.match(/The evidence is valid: 5\.00 USDC to 0x[0-9a-f]{8}\.\., only from accepted deposits\./);
    const [test = ""] = /packages\/\S+\.test\.ts/.exec(text) ?? [];
    expect(text).to.contain("after a chain of 20 payments, three merges and a withdrawal");
    expect(readFileSync(join(import.meta.dirname, "..", "..", test), "utf8")).to.contain(
      "[PAYMENTS, MERGES_BEFORE] = [20,",
    );
    // Only the server that asks sees an origin, and only of a wallet that follows the set.
    expect(whole.stdout.match(/"origin":/g)).to.have.lengthOf(1);
  });

  it("answers an unpaid request with the price, the recipient and the recipient's phone number", () => {
    expect(section(3))
      .to.contain("402 Payment Required")
      .and.match(/www-authenticate +x402-zk/)
      .and.contain(PHONE);
  });

  it("shows the observer neither the amount nor the parties of a payment", () => {
    for (const step of [4, 5, 6]) {
      const lines = section(step).split("\n");
      const titles = lines.findIndex((line) => line.includes("OBSERVER OF THE CHAIN"));
      const seen = lines.slice(titles + 1, lines.indexOf("SERVICE")).map((line) => line.split(" | ").at(-1) ?? "");
      expect(seen.join(" ").replaceAll(/\s+/g, " "))
        .to.match(/nullifier|some note was spent/)
        .and.not.match(/USDC|http|article|\+49/);
    }
    expect(section(8).replaceAll(/\s+/g, " ")).to.contain("12 payments").and.contain("nothing found");
  });

  it("shows the service the resource and the price bounds, but no payer", () => {
    const [payer = ""] = /(?<=signed one message as )0x[0-9a-f]{8}/.exec(whole.stdout.replaceAll(/\s+/g, " ")) ?? [];
    expect(payer).to.match(/^0x/);
    const service = (step: number) => {
      const text = section(step);
      return text.slice(text.indexOf("\nSERVICE\n")).replaceAll(/\s+/g, " ");
    };
    expect(service(1)).to.contain("POST /zk/deposit").and.contain(payer);
    expect(service(2)).to.contain("POST /zk/phone/link").and.contain("POST /zk/phone/verify");
    expect(service(4))
      .to.match(/0x\S+ gets 0\.10 USDC to 0\.11 USDC for http\S+\/articles\/1;/)
      .and.not.contain(payer);
    expect(service(5))
      .to.contain("10 times POST /zk/verify")
      .and.contain("10 times POST /zk/settle")
      .and.not.contain(payer);
    expect(service(9)).to.contain("nothing: no request");
    expect(service(10)).to.contain("spends 8 notes; nothing leaves the pool").and.contain("1.50 USDC to 0x");
  });

  it("detects wrong balances if it stops early", async () => {
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
      // The same search finds the account in a deposit, which is public.
      const { found } = await searchSecrets(world, world.transactions.receipts);
      expect(found).to.deep.equal(["both accounts"]);
    } finally {
      await cleanup.run();
    }
  });
});
