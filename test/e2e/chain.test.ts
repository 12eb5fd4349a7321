// `pnpm chain`, `pnpm deploy:local` and a wallet on them, with the possible errors.

import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { deployLocal } from "@sotto/local/chain/deployment";
import { type LocalNode, startNode } from "@sotto/local/chain/node";
import { freePort } from "@sotto/server";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { command, expectRefused } from "@sotto/test-kit/command";
import { slow } from "@sotto/test-kit/slow";
import { ChainError, createSeedWords, MemoryStore, seedFromWords, Wallet } from "@sotto/wallet";
import { expect } from "chai";
import hre from "hardhat";

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? error.code : error);
const refused = (promise: Promise<unknown>) => promise.then(() => "accepted", codeOf);

describe("local chain", function () {
  slow(this, "commands, a chain and proofs");
  let node: LocalNode;
  before(async () => {
    node = await startNode();
  });
  after(() => node.stop());

  it("prints its address, and runs until it is stopped", async () => {
    const port = String(await freePort("127.0.0.1"));
    const { status, stdout } = await command("packages/local/src/chain/start.ts", ["--port", port], (text, child) => {
      if (text.includes("deploy:local")) child.kill("SIGINT");
    });
    expect(stdout).to.contain(`http://127.0.0.1:${port}`);
    expect(status).to.equal(null);
  });

  it("rejects a busy port and an invalid one", async () => {
    const port = new URL(node.url).port;
    expectRefused(await command("packages/local/src/chain/start.ts", ["--port", port]), "PORT_BUSY", port);
    for (const wrong of ["0", "-1", "65536", "80a", "1e3"])
      expectRefused(await command("packages/local/src/chain/start.ts", ["--port", wrong]), "INVALID_PORT", wrong);
  });

  it("receives the contracts, and a wallet can use them", async () => {
    const deployment = await deployLocal(node.url);
    expect(deployment).to.include({ network: "local", set: "development", chainId: 31337 });
    const { pool, token, deploymentBlock } = deployment;
    const wallet = await Wallet.open({
      chain: node.url,
      chainId: 31337n,
      pool,
      token,
      deploymentBlock,
      seed: seedFromWords(createSeedWords()),
      store: new MemoryStore(),
      finality: 0,
    });
    await wallet.scan();
    expect(wallet.balance().total).to.equal(0n);
  });

  it("receives a new pool with each deployment", async () => {
    const [first, second] = [await deployLocal(node.url), await deployLocal(node.url)];
    expect(second.pool).not.to.equal(first.pool);
    expect(second.deploymentBlock).to.be.greaterThan(first.deploymentBlock);
  });

  it("rejects an invalid address, an unreachable node, and a server that is not a node", async () => {
    expectRefused(
      await command("packages/local/src/chain/deploy.ts", ["--url", "nonsense"]),
      "INVALID_URL",
      "nonsense",
    );
    expectRefused(await command("packages/local/src/chain/deploy.ts", ["--url", "ftp://127.0.0.1"]), "INVALID_URL");
    const unreachable = await command("packages/local/src/chain/deploy.ts", ["--url", "http://127.0.0.1:9"]);
    expectRefused(unreachable, "NODE_UNREACHABLE", "http://127.0.0.1:9", "npm run chain");
    const server = createServer((_, response) => response.end("<html>hello</html>"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    expectRefused(await command("packages/local/src/chain/deploy.ts", ["--url", url]), "NODE_UNREACHABLE", url);
    server.close();
  });

  it("must have the chain id that the deployment and the wallet expect", async () => {
    const other = closedAfterTest(
      await hre.network.createServer({ network: "node", override: { chainId: 8453 } }, "127.0.0.1", 0),
    );
    const { port } = await other.listen();
    const url = `http://127.0.0.1:${port}`;
    expectRefused(
      await command("packages/local/src/chain/deploy.ts", ["--url", url]),
      "DEVELOPMENT_KEYS_REFUSED",
      "8453",
      "31337",
    );
    expect(await refused(openAt(url, `0x${"11".repeat(20)}`))).to.equal("WRONG_CHAIN");
  });

  it("makes a wallet reject an unreachable node, an undeployed pool and another contract", async () => {
    expect(await refused(openAt("http://127.0.0.1:9", `0x${"11".repeat(20)}`))).to.equal("NODE_UNREACHABLE");
    expect(await refused(openAt(node.url, `0x${"11".repeat(20)}`))).to.equal("POOL_NOT_DEPLOYED");
    const { token } = await deployLocal(node.url);
    expect(await refused(openAt(node.url, token))).to.equal("POOL_MISMATCH");
    await openAt(node.url, `0x${"11".repeat(20)}`).catch((error) => expect(error).to.be.instanceOf(ChainError));
  });

  it("causes no output and does not keep the process alive if it is unreachable", async () => {
    const ask = `
      import { connectChain, ethersProvider } from "@sotto/wallet";
      const chain = connectChain({ urls: ["http://127.0.0.1:9"], chainId: 31337n, retries: 1 });
      await ethersProvider(chain).getBlockNumber().catch((error) => console.log(error.code));
    `;
    const options = { cwd: import.meta.dirname, encoding: "utf8" } as const;
    const { stdout, stderr, status } = spawnSync("node", ["--input-type=module", "--eval", ask], options);
    expect({ stdout, stderr, status }).to.deep.equal({ stdout: "NODE_UNREACHABLE\n", stderr: "", status: 0 });
  });
});

const openAt = (url: string, pool: string) =>
  Wallet.open({
    chain: url,
    chainId: 31337n,
    pool,
    deploymentBlock: 0,
    seed: seedFromWords(createSeedWords()),
    store: new MemoryStore(),
    finality: 0,
  });
