// Deployments with wrong settings, deployments that are interrupted, and node URLs that contain a provider's key.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { type LocalNode, startNode } from "@sotto/local/chain/node";
import { type DeploymentManifest, parseDeployment } from "@sotto/protocol";
import { command, expectRefused, type Result } from "@sotto/test-kit/command";
import { CuttingProxy } from "@sotto/test-kit/cutting-proxy";
import { inLongRun } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { ContractFactory, HDNodeWallet, JsonRpcProvider, parseEther, toQuantity, Wallet } from "ethers";
import hre from "hardhat";

const MNEMONIC = "test test test test test test test test test test test junk";
const [deployer, other] = [0, 1].map((index) =>
  HDNodeWallet.fromPhrase(MNEMONIC, undefined, `m/44'/60'/0'/0/${index}`),
) as [HDNodeWallet, HDNodeWallet];
const CANARY = "canary-of-the-provider";
const root = join(import.meta.dirname, "..", "..");

describe("deploying with faults", function () {
  slow(this, "deployments to a chain of their own");
  let node: LocalNode;
  let folder: string;
  let provider: JsonRpcProvider;
  const network = `faults-${process.pid}`;
  const journal = join(root, "ignition", "deployments", network);
  const sources = join(root, ".sotto", "deployments", network);

  const openProvider = (url: string) => new JsonRpcProvider(url, undefined, { staticNetwork: true, cacheTimeout: -1 });
  const run = async (args: readonly string[], variables: object = {}, watch?: Parameters<typeof command>[2]) => {
    const secrets = { SOTTO_DEPLOY_RPC_URL: `${node.url}/v2/${CANARY}`, SOTTO_DEPLOYER_KEY: deployer.privateKey };
    const all = ["--network", network, "--to", folder, ...args];
    const result: Result = await command("packages/deploy/src/main.ts", all, watch, { ...secrets, ...variables });
    for (const secret of [CANARY, deployer.privateKey.slice(2)])
      expect(result.stdout + result.stderr).to.not.include(secret);
    return result;
  };
  const test = ["--test-token", "yes"];

  before(async () => {
    node = await startNode(0, { chainId: 1337, blockTimeMs: 200 });
    folder = temporaryFolder("faults");
    provider = openProvider(node.url);
  });
  after(async () => {
    provider.destroy();
    await node.stop();
    for (const path of [folder, journal, sources]) rmSync(path, { recursive: true, force: true });
  });

  it("reports a faulty node, key, account or folder before it starts", async () => {
    const away = { SOTTO_DEPLOY_RPC_URL: `http://127.0.0.1:1/${CANARY}` };
    expectRefused(await run(test, away), "NODE_UNREACHABLE", "SOTTO_DEPLOY_RPC_URL");
    const server = createServer((_, response) => response.writeHead(401).end(`<html>${CANARY}`));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${CANARY}`;
    expectRefused(await run(test, { SOTTO_DEPLOY_RPC_URL: page }), "NODE_UNREACHABLE");
    server.close();
    expectRefused(await run(test, { SOTTO_DEPLOY_RPC_URL: CANARY }), "SETTING_INVALID", "SOTTO_DEPLOY_RPC_URL");
    for (const key of inLongRun([CANARY], ["0x1234"]))
      expectRefused(await run(test, { SOTTO_DEPLOYER_KEY: key }), "SETTING_INVALID", "SOTTO_DEPLOYER_KEY");
    const poor = Wallet.createRandom();
    expectRefused(await run(test, { SOTTO_DEPLOYER_KEY: poor.privateKey }), "NO_FUNDS", poor.address.toLowerCase());
    writeFileSync(join(folder, `${network}.json`), "{}");
    const below = join(folder, `${network}.json`, "folder");
    expectRefused(await run([...test, "--to", below]), "FOLDER_NOT_WRITABLE", below);
    expectRefused(await run(test), "MANIFEST_EXISTS", `${network}.json`);
    rmSync(join(folder, `${network}.json`));
    expect(existsSync(journal)).to.equal(false);
    expect(await provider.getTransactionCount(deployer.address)).to.equal(0);
  });

  it("resumes after a kill, and never prints a secret", async () => {
    const proxy = new CuttingProxy(node.url);
    // After the first transaction the process receives no response, so that it is killed at exactly this point.
    const held = new Promise<void>((resolve) => {
      proxy.hold = resolve;
    });
    const away = { SOTTO_DEPLOY_RPC_URL: `${await proxy.listen()}/v2/${CANARY}` };
    let begun = false;
    const killed = await run(test, away, (_, child) => {
      if (!begun) void held.then(() => child.kill("SIGKILL"));
      begun = true;
    });
    await proxy.close();
    expect(killed.status).to.equal(null);
    expect(proxy.sent).to.be.at.least(1);
    expect(existsSync(join(folder, `${network}.json`))).to.equal(false);
    const { status, stdout, stderr } = await run(test);
    expect(status, stdout + stderr).to.equal(0);
    expect(await provider.getTransactionCount(deployer.address)).to.equal(6);
    for (const place of [folder, journal, sources])
      for (const name of readdirSync(place, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()))
        expect(readFileSync(join(name.parentPath, name.name), "utf8"), name.name).to.not.include(CANARY);
  });

  it("resumes after the account ran out of ETH, and sends nothing twice", async () => {
    const poor = Wallet.createRandom();
    const own = `${network}-poor`;
    const deploy = () => run([...test, "--network", own], { SOTTO_DEPLOYER_KEY: poor.privateKey });
    const give = (wei: bigint) => provider.send("hardhat_setBalance", [poor.address, toQuantity(wei)]);
    try {
      // Enough ETH for two of its transactions.
      await give(parseEther("0.0045"));
      expectRefused(await deploy(), "DEPLOYMENT_FAILED", "funds", "to resume");
      const sent = await provider.getTransactionCount(poor.address);
      expect(sent).to.be.within(1, 5);
      expectRefused(await deploy(), "DEPLOYMENT_FAILED", "funds", "to resume");
      expect(await provider.getTransactionCount(poor.address)).to.equal(sent);
      await give(parseEther("1"));
      const { status, stdout, stderr } = await deploy();
      expect(status, stdout + stderr).to.equal(0);
      expect(await provider.getTransactionCount(poor.address)).to.equal(6);
    } finally {
      for (const path of [dirname(journal), dirname(sources)])
        rmSync(join(path, own), { recursive: true, force: true });
    }
  });

  it("does not resume with other settings or on another chain", async () => {
    const file = join(folder, `${network}.json`);
    const before: DeploymentManifest = parseDeployment(JSON.parse(readFileSync(file, "utf8")));
    const sent = await provider.getTransactionCount(deployer.address);
    const { abi, bytecode } = await hre.artifacts.readArtifact("TestUSDC");
    const dollar = await new ContractFactory(abi, bytecode, other.connect(provider)).deploy();
    const token = await (await dollar.waitForDeployment()).getAddress();
    for (const changed of inLongRun([["--token", token]], [[...test, "--smallest-deposit", "5"]]))
      expectRefused(await run(changed), "DEPLOYMENT_FAILED", "has been changed");
    expectRefused(await run(test, { SOTTO_DEPLOYER_KEY: other.privateKey }), "DEPLOYMENT_FAILED", "From account");
    for (const [chainId, code] of [
      [31337, "DEPLOYMENT_FAILED"],
      [1337, "POOL_GONE"],
    ] as const) {
      const elsewhere = await startNode(0, { chainId });
      const there = openProvider(elsewhere.url);
      try {
        expectRefused(await run(test, { SOTTO_DEPLOY_RPC_URL: elsewhere.url }), code);
        expect(await there.getTransactionCount(deployer.address), String(chainId)).to.equal(0);
      } finally {
        there.destroy();
        await elsewhere.stop();
      }
    }
    expect(await provider.getTransactionCount(deployer.address)).to.equal(sent);
    expect(parseDeployment(JSON.parse(readFileSync(file, "utf8")))).to.deep.equal(before);
  });
});
