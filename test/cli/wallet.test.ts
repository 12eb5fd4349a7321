import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseDeployment } from "@sotto/protocol";
import { type Altered, CuttingProxy } from "@sotto/test-kit/cutting-proxy";
import { eventually } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { slow } from "@sotto/test-kit/slow";
import { stopped } from "@sotto/test-kit/stopped";
import { contractWalletOf } from "@sotto/test-world/contract-wallets";
import { createSeedWords, seedFromWords, shieldedAddressOf } from "@sotto/wallet";
import { expect } from "chai";
import { AbiCoder, encodeBytes32String, id } from "ethers";
import { Cli } from "./support/cli.ts";
import { type CliWorld, initArguments, listen, openCli, openCliWorld, placeOf, tokensOf } from "./support/world.ts";

interface Balance {
  spendable: { amount: string; decimal: string };
  total: { amount: string };
}
interface Deposited {
  transaction: string;
  gasPaidBy: string;
  account: string;
  notes: number;
}

describe("sotto: a wallet", function () {
  slow(this, "a chain, a service and the command line's processes");
  let world: CliWorld;
  before(async () => {
    world = await openCliWorld();
  });

  describe("init", () => {
    it("creates a key that only its owner can read, and never prints it", async () => {
      const cli = new Cli();
      const made = await cli.json<{ key: string; shieldedAddress: string; pool: string }>(initArguments(world));
      expect(made).to.include({ key: "new", pool: world.pool });
      cli.learnSecrets();
      const words = readFileSync(join(cli.home, "seed"), "utf8").trim();
      expect(made.shieldedAddress).to.equal(shieldedAddressOf(seedFromWords(words), placeOf(world)));
      expect(await cli.json(["address"])).to.deep.equal({ shieldedAddress: made.shieldedAddress });
      await cli.json(["balance"]);
      expect(statSync(cli.home).mode & 0o777).to.equal(0o700);
      for (const name of readdirSync(cli.home)) expect(statSync(join(cli.home, name)).mode & 0o077, name).to.equal(0);
    });

    it("needs only the deployment of deploy:local on a local chain", async () => {
      const cli = new Cli();
      const { node, service } = world;
      const args = ["init", "--rpc", node.url, "--service", service.url, "--artifacts", "none"];
      expect(await cli.refused(args, 2, { cwd: cli.folder })).to.equal("USAGE");
      const made = await cli.json<{ pool: string }>(args, { cwd: keepDeployment(world, cli) });
      expect(made.pool).to.equal(world.pool);
    });

    it("never replaces a wallet, or a key that has no config", async () => {
      const cli = new Cli();
      const { shieldedAddress } = await cli.json<{ shieldedAddress: string }>(initArguments(world));
      expect(await cli.refused(initArguments(world), 2)).to.equal("WALLET_EXISTS");
      const again = await cli.json<Record<string, unknown>>(["init", "--update", "--finality", "1"]);
      expect(again).to.include({ shieldedAddress, key: "kept" });
      const other = new Cli();
      await other.json(initArguments(world), { env: { SOTTO_SEED: createSeedWords() } });
      expect(existsSync(join(other.home, "seed"))).to.equal(false);
    });

    it("--update saves a service's base URL only if it answers with the pool's artifact set", async () => {
      const cli = new Cli();
      await cli.json(initArguments(world));
      const saved = () => readFileSync(join(cli.home, "config.json"), "utf8");
      const before = saved();
      const update = (url: string) => cli.run(["init", "--update", "--service", url]);
      const dead = await update("http://127.0.0.1:9/zk");
      expect([dead.code, dead.stdout, saved()]).to.deep.equal([6, "", before]);
      expect(dead.stderr).to.equal(
        "sotto: SERVICE_UNREACHABLE: the config was not changed: nothing answers at http://127.0.0.1:9/zk/circuits; " +
          "start one at http://127.0.0.1:8402/zk with `npm run service`\n",
      );
      const root = await update(new URL(world.service.url).origin);
      expect([root.code, saved()]).to.deep.equal([3, before]);
      expect(root.stderr).to.include("the URL may lack its base path, as in http://127.0.0.1:");
      const other = await listen((_, response) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ artifactSet: { name: "ceremony/other", id: "7" } }));
      });
      try {
        const foreign = await update(other.url);
        expect([foreign.code, saved()]).to.deep.equal([2, before]);
        expect(foreign.stderr).to.include(
          `the service ${other.url} uses the keys ceremony/other, but the pool uses development`,
        );
      } finally {
        await other.close();
      }
      expect((await update(world.service.url)).code).to.equal(0);
      expect(JSON.parse(saved())).to.include({ service: world.service.url });
    });

    it("creates a wallet even if the service does not answer yet, with a warning", async () => {
      const cli = new Cli();
      const args = initArguments(world).map((arg) => (arg === world.service.url ? "http://127.0.0.1:9/zk" : arg));
      const { code, stdout, stderr } = await cli.run(args);
      expect([code, stdout.split("\n").length]).to.deep.equal([0, 7]);
      expect(stderr).to.match(
        /^the service is not usable yet: nothing answers at http:\/\/127\.0\.0\.1:9\/zk\/circuits;/,
      );
    });

    it("uses the manifest's finality, or the chain's default", async () => {
      for (const [changes, expected] of [
        [{}, 0],
        [{ finality: 4 }, 4],
      ] as const) {
        const cli = new Cli();
        const file = cli.path("manifest.json");
        writeFileSync(file, JSON.stringify({ ...parseDeployment(world), ...changes }));
        await cli.json(initArguments({ ...world, deploymentFile: file }));
        expect(JSON.parse(readFileSync(join(cli.home, "config.json"), "utf8"))).to.include({ finality: expected });
      }
    });

    it("reads words from standard input, and never repeats invalid words", async () => {
      // Fixed words, because an error's text may contain a random one.
      const words =
        "skin rose dwarf neither rookie tornado twelve economy receive speed warfare opera journey jewel theory moon example noise gas upper foot warm carry jewel";
      const cli = new Cli();
      const made = await cli.json<{ shieldedAddress: string }>([...initArguments(world), "--words"], { input: words });
      expect(made.shieldedAddress).to.equal(shieldedAddressOf(seedFromWords(words), placeOf(world)));
      for (const input of ["", "abandon", words.replace(/^\w+/, "zebraword"), "x".repeat(5000)]) {
        const { code, stdout, stderr } = await new Cli().run([...initArguments(world), "--words"], { input });
        expect(code).to.be.oneOf([2, 9]);
        for (const word of words.split(" ")) expect(`${stdout}${stderr}`.split(/\W+/)).to.not.include(word);
        expect(stderr).to.not.include("zebraword");
      }
    });

    it("shows amounts in tokens if the token's symbol is missing or cannot be printed", async () => {
      const proxy = new CuttingProxy(world.node.url);
      const asked = id("symbol()").slice(0, 10);
      const url = await proxy.listen();
      const text = (symbol: string): Altered => ({ result: AbiCoder.defaultAbiCoder().encode(["string"], [symbol]) });
      try {
        for (const [answer, symbol] of [
          [text("EURC"), "EURC"],
          [text("USD₮0"), "tokens"],
          [text("\u001b[2J"), "tokens"],
          [text(""), "tokens"],
          [{ result: encodeBytes32String("MKR") }, "tokens"],
          [{ error: { code: 3, message: "execution reverted" } }, "tokens"],
        ] satisfies [Altered, string][]) {
          proxy.alter = (method, [call]) =>
            method === "eth_call" && (call as { data: string }).data === asked ? answer : undefined;
          const cli = new Cli();
          await cli.json(initArguments({ ...world, node: { ...world.node, url } }));
          expect(await cli.json(["balance"])).to.include({ symbol });
        }
      } finally {
        await proxy.close();
      }
    });

    it("rejects a node of another chain, and an address that has no pool", async () => {
      const manifest = parseDeployment(world);
      const naming = (changes: object) => {
        const cli = new Cli();
        const file = cli.path("manifest.json");
        writeFileSync(file, JSON.stringify({ ...manifest, ...changes }));
        return cli.refused(initArguments({ ...world, deploymentFile: file }), 2);
      };
      const pool = `0x${"12".repeat(20)}`;
      const withPool = (address: string) => {
        const contracts = { ...manifest.contracts, pool: { ...manifest.contracts.pool, address } };
        return { pool: address, contracts };
      };
      expect(await naming({ chainId: 1 })).to.equal("CONFIG_INVALID");
      expect(await naming(withPool(pool))).to.equal("CONFIG_INVALID");
      // A contract that is not a pool.
      expect(await naming(withPool(world.token))).to.equal("CONFIG_INVALID");
      expect(await naming({ token: pool })).to.equal("CONFIG_INVALID");
      expect(await naming({ set: "ceremony/never-held" })).to.equal("ARTIFACT_SET_UNKNOWN");
      expect(await naming({ version: 2 })).to.equal("DEPLOYMENT_INVALID");
      const dead = [...initArguments(world).filter((arg) => arg !== "--rpc" && arg !== world.node.url)];
      expect(await new Cli().refused([...dead, "--rpc", "http://127.0.0.1:9"], 6)).to.equal("NODE_UNREACHABLE");
    });
  });

  describe("its key file", () => {
    it("is rejected if other users can read it, or if it is a symbolic link or does not contain a key", async () => {
      const cli = new Cli();
      await cli.json(initArguments(world));
      const key = join(cli.home, "seed");
      for (const mode of [0o640, 0o604, 0o666, 0o700 | 0o010]) {
        chmodSync(key, mode);
        expect(await cli.refused(["address"], 9), mode.toString(8)).to.equal("KEY_FILE_UNSAFE");
      }
      chmodSync(key, 0o400);
      await cli.json(["address"]);
      const linked = new Cli();
      await linked.json(initArguments(world), { env: { SOTTO_SEED: createSeedWords() } });
      expect(await linked.refused(["address"], 9)).to.equal("KEY_MISSING");
      symlinkSync(key, join(linked.home, "seed"));
      expect(await linked.refused(["address"], 9)).to.equal("KEY_FILE_UNSAFE");
      const broken = new Cli();
      await broken.json(initArguments(world), { env: { SOTTO_SEED: createSeedWords() } });
      writeFileSync(join(broken.home, "seed"), "not a seed at all", { mode: 0o600 });
      const { stderr } = await broken.run(["address"]);
      expect(stderr)
        .to.match(/KEY_MISSING/)
        .and.to.not.include("at all");
    });

    it("is overridden by SOTTO_SEED, as words or hex", async () => {
      const cli = new Cli();
      await cli.json(initArguments(world));
      const words = createSeedWords();
      const shieldedAddress = shieldedAddressOf(seedFromWords(words), placeOf(world));
      const hex = `0x${Buffer.from(seedFromWords(words)).toString("hex")}`;
      for (const SOTTO_SEED of [words, hex])
        expect(await cli.json(["address"], { env: { SOTTO_SEED } })).to.deep.equal({ shieldedAddress });
      expect(await cli.refused(["address"], 9, { env: { SOTTO_SEED: "0x1234" } })).to.equal("KEY_MISSING");
    });
  });

  describe("deposit, withdraw and merge", () => {
    let cli: Cli & { account: string };
    before(async () => {
      cli = await openCli(world);
    });

    it("deposits with a signature, for an account without ETH", async () => {
      const done = await cli.json<Deposited>(["deposit", "5.5", "--notes", "2"]);
      expect(done.account).to.equal(cli.account);
      expect(done.gasPaidBy).to.not.equal(cli.account);
      const { spendable } = await cli.json<Balance>(["balance"]);
      expect(spendable).to.deep.equal({ amount: "5500000", decimal: "5.5" });
      const notes = await cli.json<{ amount: string; state: string; transaction: string }[]>(["notes"]);
      expect(notes.map(({ amount, state }) => [amount, state])).to.deep.equal([
        ["2750000", "spendable"],
        ["2750000", "spendable"],
      ]);
      expect(notes[0]!.transaction).to.equal(done.transaction);
    });

    it("deposits the tokens of a contract account whose owner signs", async () => {
      const [owner, stranger] = [await openCli(world, 0n), await openCli(world, 0n)];
      const from = await contractWalletOf(world, owner.account);
      const args = ["deposit", "3", "--from", from];
      expect(await owner.refused(args, 4)).to.equal("INSUFFICIENT_TOKENS");
      const done = await owner.json<Deposited>([...args, "--mint"]);
      expect(done).to.include({ account: from, notes: 1 });
      expect([await tokensOf(world, from), await tokensOf(world, owner.account)]).to.deep.equal([0n, 0n]);
      expect((await owner.json<Balance>(["balance"])).spendable.amount).to.equal("3000000");
      expect(await stranger.refused([...args, "--mint"], 3)).to.equal("DEPOSIT_REFUSED");
      expect(await tokensOf(world, from)).to.equal(3_000_000n);
      expect(await owner.refused([...args, "--approve"], 2)).to.equal("USAGE");
      expect(await owner.refused(["deposit", "3", "--from", "0x12"], 2)).to.equal("INVALID_ADDRESS");
    });

    it("deposits with an approval from the local chain's public account", async () => {
      const local = await openCli(world, 0n);
      const args = ["deposit", "2", "--approve", "--mint"];
      const done = await local.json<Deposited>(args, { env: { SOTTO_ACCOUNT_KEY: "" } });
      expect(done.gasPaidBy).to.equal(done.account);
      expect((await local.json<Balance>(["balance"])).spendable.amount).to.equal("2000000");
    });

    it("reports insufficient funds, and changes nothing", async () => {
      expect(await cli.refused(["deposit", "100000000"], 4)).to.equal("INSUFFICIENT_TOKENS");
      expect(await cli.refused(["withdraw", "100", "--to", cli.account, "--yes"], 4)).to.equal("INSUFFICIENT_FUNDS");
      const tokens = await cli.run(["deposit", "100000000"]);
      expect(tokens.stderr).to.match(
        /^sotto: INSUFFICIENT_TOKENS: 0x\w+ holds [\d.]+ USDC of the token, but 100000000 USDC are needed: [\d.]+ USDC more; mint test tokens with --mint\n$/,
      );
    });

    it("reports missing confirmations on a chain that mines no blocks", async () => {
      const cautious = await openCli(world);
      await cautious.json(["init", "--update", "--finality", "50"]);
      const { code, stderr } = await cautious.run(["deposit", "1.5", "--wait", "1"]);
      expect(code).to.equal(5);
      expect(stderr).to.match(
        /^sotto: PENDING: the deposit cannot be spent after 1 s: 1\.5 USDC wait for 50 confirmations; .*`sotto balance --home \S+` shows when it can/,
      );
    });

    it("submits a withdrawal from its own account, and everything else through the service", async () => {
      const to = `0x${"77".repeat(20)}`;
      expect(await cli.refused(["withdraw", "1", "--to", to], 3)).to.equal("NOT_CONFIRMED");
      expect(await cli.refused(["withdraw", "1", "--all", "--to", to, "--yes"], 2)).to.equal("USAGE");
      // The wallet's account has no ETH, but the local chain's public account has.
      const own = ["--yes", "--own-gas"];
      const env = { SOTTO_ACCOUNT_KEY: "" };
      const part = ["withdraw", "0.5", "--to", to, ...own];
      const { ended } = cli.start([...part, "--verbose"], {
        env,
        stop: { at: /sending/, signal: "SIGKILL" },
      });
      expect((await ended).code).to.equal(null);
      const [broken] = await cli.json<{ id: string; amount: string }[]>(["withdrawals"]);
      expect(broken).to.include({ amount: "500000" });
      const resumed = { id: broken!.id, amount: "500000", resumed: true };
      const executed = await cli.json<{ transaction: string; gasPaidBy: string }>(part, { env });
      expect(executed).to.include(resumed);
      expect(executed.gasPaidBy).to.match(/^0x/);
      const { transaction } = executed;
      const again = ["withdraw", "--again", broken!.id, ...own];
      expect(await cli.json(again, { env })).to.include({ ...resumed, transaction, gasPaidBy: null });
      expect(await tokensOf(world, to)).to.equal(500_000n);
      await cli.json(["withdraw", "--all", "--to", to, "--yes"]);
      expect((await cli.json<Balance>(["balance"])).total.amount).to.be.oneOf(["0", "2250000"]);
    });

    it("allows one process at a time", async () => {
      const busy = cli.start(["receive", "--watch"]);
      const held = cli.start(["deposit", "1", "--verbose"], { stop: { at: /depositing/, signal: "SIGSTOP" } });
      // A suspended deposit keeps the wallet locked, but not the store of a viewing key.
      await stopped(held.child);
      expect(await cli.refused(["balance"], 8)).to.equal("WALLET_BUSY");
      held.child.kill("SIGKILL");
      await held.ended;
      await cli.json(["balance"]);
      busy.child.kill("SIGTERM");
      expect((await busy.ended).code).to.equal(130);
    });
  });

  describe("with a node that does not answer", () => {
    it("ends every command with SIGTERM", async () => {
      const cli = await openCli(world);
      const node = await FaultyNode.start(world.node.url);
      const server = await listen((_, response) => void response.writeHead(402).end());
      try {
        await cli.json(["init", "--update", "--rpc", node.url]);
        node.mode = "hangs";
        const { deploymentFile } = world;
        for (const args of [
          ["balance"],
          ["pay", server.url, "--max", "1"],
          ["deposit", "1"],
          ["receive", "--watch"],
          ["init", "--update", "--deployment", deploymentFile, "--rpc", node.url],
        ]) {
          const { requests } = node;
          const { child, ended } = cli.start(args);
          await eventually(async () => node.requests > requests);
          child.kill("SIGTERM");
          const { code, stderr } = await ended;
          expect([code, /INTERRUPTED/.test(stderr)], `${args.join(" ")}: ${stderr}`).to.deep.equal([130, true]);
        }
        node.mode = "honest";
        await cli.json(["balance"]);
      } finally {
        await node.stop();
        await server.close();
      }
    });
  });
});

function keepDeployment(world: CliWorld, cli: Cli): string {
  const folder = cli.path("checkout");
  mkdirSync(join(folder, ".sotto"), { recursive: true });
  cpSync(world.deploymentFile, join(folder, ".sotto", "deployment.json"));
  return folder;
}
