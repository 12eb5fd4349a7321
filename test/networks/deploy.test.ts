// Deploys to a network that is not the local chain: it has another chain id, mines blocks at intervals and drops
// connections.

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compareDeployment, differs } from "@sotto/deploy/check";
import { type LocalNode, startNode } from "@sotto/local/chain/node";
import { type DeploymentManifest, parseDeployment } from "@sotto/protocol";
import { command, expectRefused } from "@sotto/test-kit/command";
import { CuttingProxy } from "@sotto/test-kit/cutting-proxy";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { HDNodeWallet, JsonRpcProvider } from "ethers";
import { startProcess, stopProcess } from "../world/service-process.ts";
import { compile, construct, type Entry, withoutAddress } from "./support/explorer.ts";

const MNEMONIC = "test test test test test test test test test test test junk";
const deployer = HDNodeWallet.fromPhrase(MNEMONIC);
/** Verifier, verifier, verifier, hash, test dollar, pool. */
const TRANSACTIONS = 6;

describe("deploying to a network", function () {
  slow(this, "deployments to a chain of their own");
  let node: LocalNode;
  let proxy: CuttingProxy;
  let url: string;
  let folder: string;
  let provider: JsonRpcProvider;
  let manifest: DeploymentManifest;
  const network = `test-${process.pid}`;
  const journal = join(import.meta.dirname, "..", "..", "ignition", "deployments", network);
  const sources = join(import.meta.dirname, "..", "..", ".sotto", "deployments", network);

  const run = (script: string, args: string[], rpc = url) =>
    command(script, args, undefined, { SOTTO_DEPLOY_RPC_URL: rpc, SOTTO_DEPLOYER_KEY: deployer.privateKey });
  const deploy = (...args: string[]) =>
    run("packages/deploy/src/main.ts", ["--network", network, "--to", folder, ...args]);
  const check = (file: string) => run("packages/deploy/src/check-main.ts", ["--file", file]);

  before(async () => {
    node = await startNode(0, { chainId: 1337, blockTimeMs: 300 });
    proxy = new CuttingProxy(node.url);
    url = await proxy.listen();
    folder = temporaryFolder("deploy");
    provider = new JsonRpcProvider(node.url, undefined, { staticNetwork: true, cacheTimeout: -1 });
  });
  after(async () => {
    provider.destroy();
    await proxy.close();
    await node.stop();
    for (const path of [folder, journal, sources]) rmSync(path, { recursive: true, force: true });
  });

  it("rejects an invalid deployment before anything is sent", async () => {
    expectRefused(await deploy(), "OPTION_MISSING", "--token");
    expectRefused(await deploy("--token", "0x12"), "INVALID_ADDRESS", "token");
    expectRefused(await deploy("--token", `0x${"11".repeat(20)}`), "TOKEN_INVALID");
    expectRefused(
      await deploy("--test-token", "yes", "--set", "ceremony/none"),
      "ARTIFACT_SET_UNKNOWN",
      "ceremony/none",
    );
    expectRefused(await deploy("--test-token", "yes", "--smallest-deposit", "0.5"), "OPTION_INVALID");
    expectRefused(await deploy("--test-token", "yes", "--finality", "1001"), "OPTION_INVALID", "0 to 1000");
    expectRefused(
      await run("packages/deploy/src/main.ts", ["--network", "../x", "--test-token", "yes"]),
      "NETWORK_INVALID",
    );
    proxy.blockNumber = "0x12345678";
    expectRefused(await deploy("--test-token", "yes"), "CHAIN_UNSUITABLE");
    proxy.blockNumber = undefined;
    for (const precompile of [6, 7, 8]) {
      proxy.withoutPrecompile = precompile;
      expectRefused(await deploy("--test-token", "yes"), "CHAIN_UNSUITABLE", `precompile at address ${precompile} `);
    }
    proxy.withoutPrecompile = undefined;
    expect(await provider.getTransactionCount(deployer.address)).to.equal(0);
  });

  it("rejects development keys on chains that are not local", async () => {
    const other = await startNode(0, { chainId: 84532 });
    try {
      const args = ["--network", network, "--to", folder, "--test-token", "yes"];
      expectRefused(await run("packages/deploy/src/main.ts", args, other.url), "DEVELOPMENT_KEYS_REFUSED", "84532");
      const there = new JsonRpcProvider(other.url, undefined, { staticNetwork: true });
      expect(await there.getTransactionCount(deployer.address)).to.equal(0);
      there.destroy();
    } finally {
      await other.stop();
    }
  });

  it("resumes after two lost connections, and deploys nothing twice", async () => {
    for (const transactions of [1, 2]) {
      proxy.mend(transactions);
      const cut = await deploy("--test-token", "yes");
      expect(cut.status, cut.stdout).to.equal(1);
      expect(existsSync(join(folder, `${network}.json`))).to.equal(false);
    }
    proxy.mend();
    const { status, stdout, stderr } = await deploy("--test-token", "yes", "--finality", "12");
    expect(status, stdout + stderr).to.equal(0);
    expect(await provider.getTransactionCount(deployer.address)).to.equal(TRANSACTIONS);
    manifest = parseDeployment(JSON.parse(readFileSync(join(folder, `${network}.json`), "utf8")));
    expect(manifest.finality).to.equal(12);
    expect(manifest).to.include({ network, chainId: 1337, set: "development", smallestDeposit: "10000" });
    expect(manifest.deploymentBlock).to.be.greaterThan(0);
    expect(stdout).to.include(manifest.pool);
    expect(stdout + stderr).to.not.include(deployer.privateKey.slice(2));
  });

  it("does nothing if repeated", async () => {
    const before = readFileSync(join(folder, `${network}.json`), "utf8");
    const { status } = await deploy("--test-token", "yes");
    expect(status).to.equal(0);
    expect(await provider.getTransactionCount(deployer.address)).to.equal(TRANSACTIONS);
    expect(readFileSync(join(folder, `${network}.json`), "utf8")).to.equal(before);
  });

  it("prepares source and arguments from which explorers can reproduce the code on chain", async () => {
    const entries = JSON.parse(readFileSync(join(sources, "verification.json"), "utf8")) as Entry[];
    expect(entries.map(({ address }) => address)).to.deep.equal(
      Object.values(manifest.contracts).map(({ address }) => address),
    );
    const compiled = await compile(entries, sources);
    for (const [index, entry] of entries.entries()) {
      const [creation, found] = [compiled[index]!, await provider.getCode(entry.address)];
      const made = await construct(provider, creation + entry.constructorArguments);
      expect(made === withoutAddress(found), entry.contract).to.equal(true);
      if (!entry.contract.endsWith(":ShieldedPool")) continue;
      const others = await construct(provider, creation + entry.constructorArguments.replace(/.$/, "1"));
      expect(others === found, "with other arguments").to.equal(false);
    }
  });

  it("compares chain, manifest and tree, and names each difference", async () => {
    const good = await check(join(folder, `${network}.json`));
    expect(good.status, good.stderr).to.equal(0);
    expect(good.stdout).to.not.include("DIFFERS");
    const { contracts } = manifest;
    const swapped = { ...contracts, paymentVerifier: contracts.withdrawalVerifier };
    const rehashed = { ...contracts, noteHasher: { ...contracts.noteHasher, codeHash: `0x${"00".repeat(32)}` } };
    const changes: [string, Partial<DeploymentManifest>][] = [
      ["paymentVerifier of the pool", { contracts: swapped }],
      ["code of paymentVerifier", { contracts: swapped }],
      ["code hash of noteHasher", { contracts: rehashed }],
      ["token", { token: `0x${"11".repeat(20)}` }],
      ["smallest deposit", { smallestDeposit: "1" }],
      ["pool at block", { deploymentBlock: manifest.deploymentBlock + 1 }],
      ["verification key of payment", { verificationKeys: { ...manifest.verificationKeys, payment: "00".repeat(32) } }],
    ];
    const file = join(folder, "changed.json");
    for (const [what, change] of changes) {
      const found = (await compareDeployment({ ...manifest, ...change }, provider)).filter(differs);
      expect(found.map((difference) => difference.what).join(), what).to.include(what);
    }
    const [[what, change]] = changes as [(typeof changes)[0]];
    writeFileSync(file, JSON.stringify({ ...manifest, ...change }));
    const result = await check(file);
    expectRefused(result, "DEPLOYMENT_DIFFERS", what);
    expect(result.stdout).to.match(new RegExp(`^DIFFERS ${what}`, "m"));
    for (const precompile of [6, 7, 8]) {
      proxy.withoutPrecompile = precompile;
      const elsewhere = await run("packages/deploy/src/check-main.ts", [
        "--file",
        join(folder, `${network}.json`),
        "--rpc",
        url,
      ]);
      expectRefused(elsewhere, "DEPLOYMENT_DIFFERS", `missing BN254 precompiles: expected none, found ${precompile}`);
    }
    proxy.withoutPrecompile = undefined;
    const missing = `0x${"99".repeat(20)}`;
    const absent = { ...contracts, pool: { ...contracts.pool, address: missing } };
    writeFileSync(file, JSON.stringify({ ...manifest, pool: missing, contracts: absent }));
    expectRefused(await check(file), "DEPLOYMENT_DIFFERS", "no contract");
    writeFileSync(file, JSON.stringify({ ...manifest, chainId: 31337 }));
    expectRefused(await check(file), "DEPLOYMENT_DIFFERS", "chain id");
    writeFileSync(file, "{}");
    expectRefused(await check(file), "DEPLOYMENT_INVALID");
    expectRefused(await check(join(folder, "none.json")), "MANIFEST_MISSING");
    const nowhere = await run("packages/deploy/src/check-main.ts", [
      "--file",
      join(folder, `${network}.json`),
      "--rpc",
      "http://127.0.0.1:1",
    ]);
    expectRefused(nowhere, "NODE_UNREACHABLE");
  });

  it("lets a service start from its manifest, but not with other keys or settings", async () => {
    const file = join(folder, `${network}.json`);
    const settings = {
      SOTTO_DEPLOYMENT: file,
      SOTTO_RPC_URLS: node.url,
      SOTTO_ARTIFACTS: join(import.meta.dirname, "..", "..", "circuits", "build"),
      SOTTO_PORT: "0",
      SOTTO_STORE: "sqlite::memory:",
      SOTTO_TOKEN_KEYS: join(folder, "token-keys"),
      SOTTO_VERIFY_WORKERS: "1",
    };
    const service = await startProcess(settings);
    try {
      const circuits = (await (await fetch(`${service.url}/circuits`)).json()) as { set: string; chainId: unknown };
      expect(JSON.stringify(circuits)).to.include("development");
      expect((await fetch(`${service.url}/healthz`)).status).to.equal(200);
    } finally {
      await stopProcess(service);
    }
    const refuses = async (changes: Record<string, string>, reason: RegExp) => {
      const failure: unknown = await startProcess({ ...settings, ...changes }).then(stopProcess, (error) => error);
      expect(String(failure)).to.match(reason);
    };
    await refuses(
      { SOTTO_CHAIN_ID: "31337" },
      /INVALID_CONFIG: SOTTO_CHAIN_ID contradicts the manifest \S+, which says 1337/,
    );
    const swapped = { ...manifest, set: "ceremony/never-held" };
    writeFileSync(join(folder, "set.json"), JSON.stringify(swapped));
    await refuses({ SOTTO_DEPLOYMENT: join(folder, "set.json") }, /ARTIFACT_SET_UNKNOWN/);
  });
});
