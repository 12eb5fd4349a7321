// Processes that are killed while they fund a wallet or download artifacts from a real service, and resume.

import { fork } from "node:child_process";
import { readdirSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseDeployment } from "@sotto/protocol";
import { type ArtifactProgress, loadArtifacts, lockOf } from "@sotto/prover";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { openWorld, type World } from "@sotto/test-world/wallets";
import { createSeedWords, type Funded, type FundingProgress, type FundingStage } from "@sotto/wallet";
import { openWallet } from "@sotto/wallet/node";
import { expect } from "chai";
import { Wallet as Account, Contract, hexlify, randomBytes } from "ethers";
import type { FundingReport, FundingTask, LoadingTask } from "./support/funding-process.ts";

const AMOUNT = 1_000_000n;
const BALANCE = 10n * AMOUNT;
/** Stages at which a process dies, and the number of times that the next process has to ask the account to sign. */
const DEATHS: [FundingStage | "answered", number][] = [
  ["signing", 1],
  ["submitting", 0],
  ["settling", 0],
  ["answered", 0],
  ["confirming", 0],
  ["appending", 0],
  ["spendable", 0],
];
const ZKEY = lockOf("development").circuits["payment"]!.zkey;

describe("a process that is killed", function () {
  slow(this, "a chain and a service");
  const folder = temporaryFolder("funding");
  let world: World;
  before(async () => {
    world = await openWorld();
  });

  /** The report of a process; undefined if it was killed. */
  function run(task: FundingTask | LoadingTask): Promise<FundingReport | undefined> {
    const child = fork(join(import.meta.dirname, "support", "funding-process.ts"), [], { stdio: "inherit" });
    let report: FundingReport | undefined;
    child.once("message", (message: FundingReport) => {
      report = message;
    });
    child.send(task);
    return new Promise((resolve) => child.once("exit", () => resolve(report)));
  }

  /** A new account with tokens, and the task to deposit some of them into a new wallet. */
  async function newTask(finality: number) {
    const accountKey = hexlify(randomBytes(32));
    const { address } = new Account(accountKey);
    const abi = ["function mint(address, uint256)", "function balanceOf(address) view returns (uint256)"];
    const token = new Contract(world.token, abi, world.depositor);
    await (await token.getFunction("mint")(address, BALANCE)).wait();
    const deployment = parseDeployment(world);
    const words = createSeedWords();
    const task = { deployment, words, node: world.node.url, service: world.serviceUrl, folder, finality };
    const balance = async (blockTag = "latest"): Promise<bigint> =>
      token.getFunction("balanceOf")(address, { blockTag });
    return { task: { ...task, accountKey, amount: String(AMOUNT) }, balance };
  }
  const automine = (on: boolean) => world.provider.send("evm_setAutomine", [on]);
  /** Mines blocks until `action` has ended: a wallet with a finality above 0 waits for them. */
  async function mining<T>(action: Promise<T>): Promise<T> {
    let ended = false;
    const end = () => {
      ended = true;
    };
    action.then(end, end);
    while (!ended) {
      await world.provider.send("hardhat_mine", ["0x1"]);
      await sleep(100);
    }
    return action;
  }

  for (const [dieAt, signatures] of DEATHS)
    it(`deposits once if it dies at the stage ${dieAt}`, async () => {
      const { task, balance } = await newTask(dieAt === "confirming" ? 2 : 0);
      // The deposit stays pending at the service only while no block is mined, and the note in the queue only while the
      // append is not mined.
      if (dieAt === "settling" || dieAt === "appending") await automine(false);
      try {
        const killed = run({ ...task, dieAt });
        if (dieAt === "appending") {
          await eventually(async () => (await balance("pending")) < BALANCE);
          await world.provider.send("hardhat_mine", ["0x1"]);
        }
        expect(await killed).to.equal(undefined);
      } finally {
        await automine(true);
      }
      const report = await mining(run(task));
      expect(report?.count).to.equal(signatures);
      expect(await balance()).to.equal(BALANCE - AMOUNT);
      const wallet = await openWallet({ ...task, nodes: task.node });
      await wallet.scan();
      expect(wallet.notes().map(({ transactionHash }) => transactionHash)).to.deep.equal([report?.result]);
      expect(wallet.balance().spendable).to.equal(AMOUNT);
      expect(await wallet.unfinishedDeposits()).to.deep.equal([]);
      await wallet.close();
    });

  it("deposits once if a reorganization removes the deposit after the process was killed", async () => {
    const { task, balance } = await newTask(2);
    const { provider } = world;
    const snapshot = await provider.send("evm_snapshot", []);
    expect(await run({ ...task, until: "deposited", dieAt: "returned" })).to.equal(undefined);
    expect(await balance()).to.equal(BALANCE - AMOUNT);
    // The relayer submits it again, but no block is mined before the wallet has looked.
    await automine(false);
    expect(await provider.send("evm_revert", [snapshot])).to.equal(true);
    expect(await balance()).to.equal(BALANCE);
    const wallet = await openWallet({ ...task, nodes: task.node });
    await wallet.scan();
    const [removed] = await wallet.unfinishedDeposits();
    expect(removed).to.deep.include({ amounts: [AMOUNT], transaction: undefined });
    const account = new Account(task.accountKey);
    const signer = {
      getAddress: () => account.getAddress(),
      signTypedData: async () => expect.fail("the account was asked to sign again"),
    };
    const stages: FundingStage[] = [];
    let funding: Promise<Funded> | undefined;
    const submitting = new Promise<void>((resolve) => {
      const onProgress = ({ stage }: FundingProgress) => {
        stages.push(stage);
        resolve();
      };
      funding = wallet.fund({ amount: AMOUNT, account: signer, onProgress });
    });
    await Promise.race([submitting, funding]).finally(() => automine(true));
    const { id } = await mining(funding!);
    expect(stages[0]).to.equal("submitting");
    expect(id).to.equal(removed?.id);
    expect(await balance()).to.equal(BALANCE - AMOUNT);
    expect(wallet.balance()).to.include({ spendable: AMOUNT, total: AMOUNT });
    expect(await wallet.store.list("fund/")).to.deep.equal([]);
    await wallet.close();
  });

  it("resumes its download in the next process", async () => {
    const cache = join(folder, "killed");
    expect(await run({ service: world.serviceUrl, cache, dieAfter: 3 << 20 })).to.equal(undefined);
    expect(readdirSync(cache)).to.deep.equal([`${ZKEY}.zkey.part`]);
    const report = await run({ service: world.serviceUrl, cache });
    expect(report?.result).to.equal(ZKEY);
    expect(report?.count).to.be.within(1 << 20, 4 << 20);
    expect(readdirSync(cache)).to.deep.equal([`${ZKEY}.zkey`]);
  });

  it("does not disturb another process that downloads into the same cache", async () => {
    const cache = join(folder, "shared");
    const reports = await Promise.all([1, 2].map(() => run({ service: world.serviceUrl, cache })));
    expect(reports.map((report) => report?.result)).to.deep.equal([ZKEY, ZKEY]);
    expect(readdirSync(cache)).to.deep.equal([`${ZKEY}.zkey`]);
  });
});

describe("loading artifacts through a connection that breaks", function () {
  slow(this, "a chain and a service");
  let world: World;
  let proxy: Server;
  /** Bytes that each new connection forwards to the client before it breaks. */
  let budgets: number[];
  before(async () => {
    world = await openWorld();
    const { hostname, port } = new URL(world.serviceUrl);
    proxy = createServer((client) => {
      let left = budgets.shift() ?? Number.POSITIVE_INFINITY;
      const target = connect(Number(port), hostname);
      client.on("error", () => target.destroy()).on("close", () => target.destroy());
      target.on("error", () => client.destroy()).on("close", () => client.end());
      client.pipe(target);
      target.on("data", (bytes) => {
        left -= bytes.length;
        if (left > 0) client.write(bytes);
        else client.resetAndDestroy();
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  });
  after((done) => void proxy.close(done));

  it("resumes a compressed download with a range of the file", async () => {
    budgets = [1_000_000, 2_000_000];
    const service = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/zk`;
    const ranges: (string | null)[] = [];
    const seen: ArtifactProgress[] = [];
    const artifacts = await loadArtifacts({
      service,
      fetch: (input, init) => {
        if (String(input).endsWith(ZKEY)) ranges.push(new Headers(init?.headers).get("range"));
        return fetch(input, { ...init, headers: { ...init?.headers, connection: "close" } });
      },
      onProgress: (progress) => seen.push(progress),
    });
    const bytes = await artifacts.bytes("payment", "zkey");
    const { received, total } = seen.at(-1)!;
    expect([received, total]).to.deep.equal([bytes.length, bytes.length]);
    expect(ranges[0]).to.equal(null);
    expect(ranges.slice(1).every((range) => /^bytes=[1-9][0-9]*-$/.test(range ?? ""))).to.equal(true);
    expect(ranges.length).to.be.within(2, 3);
  });
});
