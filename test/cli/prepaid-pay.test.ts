// `sotto prepaid buy` and the commands that spend, list, restore and give up the tokens, against a real merchant.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { slow } from "@sotto/test-kit/slow";
import { openPrepaidMerchant, PrepaidServer } from "@sotto/test-world/prepaid-server";
import { expect } from "chai";
import { Cli } from "./support/cli.ts";
import { type CliWorld, initArguments, openCli, openCliWorld } from "./support/world.ts";

/** Base units: 0.001 tokens. */
const VALUE = 1_000n;

interface Listed {
  origin: string;
  unspent: { amount: string };
  stopped: { code: string } | null;
  packs: { state: string; left: number; count: number; restored: boolean }[];
}

describe("sotto prepaid: buy, spend, list, restore and drop", function () {
  slow(this, "a chain, a service and the command line's processes");
  let world: CliWorld;
  let payer: Cli & { account: string };
  let server: PrepaidServer;
  before(async () => {
    await clearOfMidnight();
    world = await openCliWorld();
    payer = await openCli(world);
    server = await PrepaidServer.open(await openPrepaidMerchant({ ...world, serviceUrl: world.service.url }, VALUE));
    await payer.json(["deposit", "1", "--notes", "2"]);
  });
  after(async () => {
    await server?.close();
  });
  const list = async () => (await payer.json<Listed[]>(["prepaid", "list"]))[0]!;
  const spent = async () => {
    const { total } = await payer.json<{ total: { amount: string } }>(["balance"]);
    return 1_000_000n - BigInt(total.amount);
  };

  it("buys a pack of a URL's price with one payment; `pay` and `request` then spend tokens", async () => {
    const bought = await payer.json(["prepaid", "buy", `${server.url}/report`, "--max", "0.001"]);
    expect(bought).to.deep.include({
      count: 100,
      left: 100,
      state: "ready",
      value: { amount: "1000", decimal: "0.001" },
    });
    expect(await spent()).to.equal(100n * VALUE);
    const { code, stdout, stderr } = await payer.run(["pay", `${server.url}/1`, "--max", "0.001"]);
    expect([code, stdout, stderr]).to.deep.equal([0, "sold /1", "paid 0.001 USDC: with a prepaid token\n"]);
    const answer = await payer.json<{ body: string; payment: object }>(["request", `${server.url}/2`, "--max", "1"]);
    expect(answer).to.deep.include({ body: "sold /2" });
    expect(answer.payment).to.include({ amount: "1000", transaction: null, id: null });
    expect(await spent()).to.equal(100n * VALUE);
    expect(await list()).to.deep.include({ origin: server.url, unspent: { amount: "98000", decimal: "0.098" } });
    expect((await list()).stopped).to.equal(null);
  });

  it("buys nothing above the limits, or if a mirror does not answer", async () => {
    const buy = ["prepaid", "buy", `${server.url}/report`, "--max"];
    expect(await payer.refused([...buy, "0.0009"], 3)).to.equal("REQUEST_LIMIT_EXCEEDED");
    expect(await payer.refused([...buy, "1", "--max-unspent", "0.1"], 3)).to.equal("PREPAID_LIMIT_EXCEEDED");
    expect(await payer.refused([...buy, "1", "--mirror", "http://127.0.0.1:9/zk"], 6)).to.equal("PREPAID_UNREACHABLE");
    expect(await spent()).to.equal(100n * VALUE);
  });

  it("restores packs from a backup as they were, and from words as packs whose spent tokens are unknown", async () => {
    const [backup, words] = [new Cli(), new Cli()];
    try {
      const secret = { env: { SOTTO_PASSPHRASE: "correct horse battery staple" } };
      await payer.json(["export", "-o", payer.path("backup.json")], secret);
      await backup.json(["restore", payer.path("backup.json")], secret);
      expect(await backup.json(["prepaid", "list"])).to.deep.equal(await payer.json(["prepaid", "list"]));

      const input = readFileSync(join(payer.home, "seed"), "utf8");
      await words.json([...initArguments(world), "--words"], { input });
      words.learnSecrets();
      expect(await words.json(["prepaid", "list"])).to.deep.equal([]);
      const found = await words.json<object[]>(["prepaid", "restore", server.url]);
      expect(found).to.have.length(1);
      expect(found[0]).to.include({ origin: server.url, state: "ready", count: 100, left: 100, restored: true });
      expect(await words.json(["prepaid", "restore", server.url]), "the second time").to.deep.equal([]);
      // A restored pack is spent from its end, and the two spent tokens are at its beginning.
      const paid = await words.run(["pay", `${server.url}/restored`, "--max", "0.001"]);
      expect([paid.code, paid.stdout]).to.deep.equal([0, "sold /restored"]);
      expect(paid.stderr).to.equal("paid 0.001 USDC: with a prepaid token\n");
      const listed = async () => (await words.json<Listed[]>(["prepaid", "list"]))[0];
      expect(await listed()).to.deep.include({ unspent: { amount: "99000", decimal: "0.099" }, stopped: null });
      // The first refused token ends the pack, and stops nothing.
      server.refusing = true;
      expect(await words.refused(["pay", `${server.url}/spent`, "--max", "1"], 3)).to.equal("PREPAID_TOKEN_REFUSED");
      expect(await listed()).to.deep.include({ unspent: { amount: "0", decimal: "0" }, stopped: null });
      expect(await spent()).to.equal(100n * VALUE);
    } finally {
      server.refusing = false;
    }
  });

  it("stops when the server refuses a token, until the owner resumes or gives the tokens up", async () => {
    server.refusing = true;
    expect(await payer.refused(["pay", `${server.url}/3`, "--max", "1"], 3)).to.equal("PREPAID_TOKEN_REFUSED");
    server.refusing = false;
    expect((await list()).stopped).to.include({ code: "PREPAID_TOKEN_REFUSED" });
    expect(await payer.refused(["prepaid", "buy", `${server.url}/report`, "--max", "1"], 3)).to.equal(
      "PREPAID_STOPPED",
    );
    expect(await payer.json(["prepaid", "resume", server.url])).to.deep.equal({ origin: server.url, resumed: true });
    expect((await payer.run(["pay", `${server.url}/4`, "--max", "1"])).stderr).to.contain("with a prepaid token");
    const dropped = await payer.json(["prepaid", "drop", server.url]);
    expect(dropped).to.deep.equal({ origin: server.url, dropped: { amount: "96000", decimal: "0.096" } });
    expect((await payer.run(["pay", `${server.url}/5`, "--max", "1"])).stderr).to.match(/: 0x[0-9a-f]{64}\n$/);
  });
});
